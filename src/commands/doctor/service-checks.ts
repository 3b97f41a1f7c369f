import {
  type Check,
  type CheckOutcome,
  type CheckSession,
  errorOutcome,
  pass,
  skip,
  warn,
} from './doctor-check.ts'
import type { ServiceProbe } from './service-probe.ts'

/** Upper limit for the clock difference, in milliseconds: a larger difference distorts time ranges. */
const maxClockSkew = 60_000

/** Whether a request reached the service, whatever the service answered. */
const isReached = ({ error }: ServiceProbe): boolean =>
  error === undefined || error.details.status !== undefined || error.details.sentState === 'ambiguous'

const readBaseUrl = async ({ context: { settings } }: CheckSession): Promise<URL> =>
  new URL(await settings.require('baseUrl'))

const isAddress = (hostname: string): boolean => /^[\d.]+$|^\[/.test(hostname)

async function checkDns(session: CheckSession): Promise<CheckOutcome> {
  const { hostname } = await readBaseUrl(session)
  const probe = await session.probe()
  const step = probe.error?.details.failedStep
  if (isAddress(hostname)) return pass(`${hostname} is an IP address`)
  if (step === 'dns') return errorOutcome('fail', probe.error)
  if (isReached(probe) || step === 'connection' || step === 'tls') return pass(`${hostname} was resolved`)
  return skip(`no connection to ${hostname}`)
}

async function checkTls(session: CheckSession): Promise<CheckOutcome> {
  const { protocol, hostname } = await readBaseUrl(session)
  const probe = await session.probe()
  if (probe.error?.details.failedStep === 'tls') return errorOutcome('fail', probe.error)
  if (protocol === 'http:') return pass('not used: the base URL is http')
  return isReached(probe)
    ? pass(`the certificate of ${hostname} is trusted`)
    : skip(`no connection to ${hostname}`)
}

async function checkService(session: CheckSession): Promise<CheckOutcome> {
  const { error, sentAt, endedAt } = await session.probe()
  return error === undefined
    ? pass(`responded in ${endedAt - sentAt} ms and accepted the token`)
    : errorOutcome('fail', error)
}

const clockCommands: Readonly<Record<string, string>> = {
  linux: 'sudo timedatectl set-ntp true',
  darwin: 'sudo sntp -sS time.apple.com',
  win32: 'w32tm /resync',
}

async function checkClock({ probe, context }: CheckSession): Promise<CheckOutcome> {
  const { date, sentAt, endedAt } = await probe()
  const command = clockCommands[context.host.runtime.platform]
  const fix = `Set the clock of this machine: time ranges depend on it.${command === undefined ? '' : ` Run: ${command}`}`
  if (date === undefined)
    return warn('the response has no date', 'Compare the clock of this machine with another clock.')
  const offset = date - (sentAt + endedAt) / 2
  const found = `${Math.abs(Math.round(offset / 1_000))}s ${offset < 0 ? 'ahead of' : 'behind'} the service`
  return Math.abs(offset) <= maxClockSkew ? pass(found) : warn(found, fix)
}

/** The checks that send a request. */
export const serviceChecks: readonly Check[] = [
  {
    check: 'DNS',
    description: 'whether the host name of the base URL can be resolved',
    needs: ['settings', 'base URL', 'proxy', 'token'],
    run: checkDns,
  },
  {
    check: 'TLS',
    description: 'whether the certificate of the service is trusted',
    needs: ['DNS'],
    run: checkTls,
  },
  {
    check: 'service',
    description: 'one request for the metrics: connection and token',
    needs: ['DNS', 'TLS'],
    run: checkService,
  },
  {
    check: 'clock',
    description: "this machine's clock compared with the service's",
    needs: ['service'],
    run: checkClock,
  },
]
