// Package gateway is the one door through which a request to a model leaves.
//
// Ask writes a reservation to the ledger before anything is dispatched, sends
// the request once, reads how it ended, and settles. The transport below the
// client holds the last guard: a request without a permit, with one that was
// used, or with another tool surface than the one the Gateway was made with,
// never leaves the process. Retries, redirects, keep-alive replays, HTTP/2,
// proxies and the environment of the host are all shut.
//
// What an ending means is read from the transport's own facts, not from the
// client's error: a call is "never sent" only where no connection was ever
// had. Everything else without a whole answer is uncertain: it stays spent and
// nothing here sends it again.
//
// The package doesn't decide what a conversation says, and it doesn't wait or
// try again.
package gateway
