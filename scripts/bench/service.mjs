// The service that the benchmark asks: plain HTTP on loopback, a process of its own so that it does not share the event
// loop with the measuring. It sends its base address to its parent and ends with it.
import { createServer } from 'node:http'
import { answer } from './answers.mjs'

const server = createServer(answer)
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}/v1`))
process.once('disconnect', () => process.exit())
