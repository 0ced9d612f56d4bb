// PostGraphile as its documentation sets it up, over the schema of ../peers.sql: where to listen, the database and the
// size of the pool come from the environment.
import { createServer } from "node:http";
import pg from "pg";
import { postgraphile } from "postgraphile";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";
import { grafserv } from "postgraphile/grafserv/node";
import { makePgService } from "postgraphile/adaptors/pg";

const pool = new pg.Pool({ max: Number(process.env.POOL_SIZE), idleTimeoutMillis: 0 });
pool.on("error", (error) => console.error(error));

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  disablePlugins: ["PgIndexBehaviorsPlugin"], // views have no indexes of their own
  pgServices: [makePgService({ pool, schemas: ["peers"] })],
  grafserv: { graphiql: false, websockets: false, watch: false },
});
const server = createServer();
server.on("error", (error) => { throw error; });
await instance.createServ(grafserv).addTo(server);
server.listen(Number(process.env.CAIRN_PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
