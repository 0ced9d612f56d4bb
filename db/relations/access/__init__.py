"""Relations of who may do what: owners, keys, programs, share links, webhooks, and the audit log."""
