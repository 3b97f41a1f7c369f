// The service that the benchmark measures against: plain HTTP on loopback. It runs in its own process, so
// that it does not share an event loop with the measurement. It sends its base URL to the parent process and
// exits with it.
import { createServer } from 'node:http'
import { handleRequest } from './answers.mjs'

const server = createServer(handleRequest)
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/v1`))
process.once('disconnect', () => process.exit())
