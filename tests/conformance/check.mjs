// What every suite in JavaScript says: a line for each check, which the runner counts.

export const { CAIRN_URL: url, CAIRN_TOKEN: token } = process.env;
export const authorization = { authorization: `Bearer ${token}` };

export async function check(name, run) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}: ${String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 600)}`);
    process.exitCode = 1;
  }
}
