import { afterEach } from 'vitest'
import { type Service, serveScript } from './harness.ts'

const services: Service[] = []
afterEach(() => Promise.all(services.splice(0).map(service => service.close())))

export { token } from './tokens.ts'

export async function serve(): Promise<Service> {
  const service = await serveScript(() => ({ body: '{"state":"RUNNING","enqueuedPullRequests":[]}' }))
  services.push(service)
  return service
}
