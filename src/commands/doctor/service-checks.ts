import { isNotFound, type MergeqError } from '../../errors.ts'
import {
  type Check,
  type CheckOutcome,
  type CheckSession,
  errorOutcome,
  pass,
  skip,
  warn,
} from './doctor-check.ts'

/** Upper limit for the clock difference, in milliseconds: a larger difference distorts time ranges. */
const maxClockSkew = 60_000

/** Whether a request reached the service, whatever the service answered. */
const isReached = (error: MergeqError | undefined): boolean =>
  error === undefined || error.details.status !== undefined || error.details.sentState === 'ambiguous'

/**
 * Returns the error of a request to the service; undefined for a request that succeeded. The request for the
 * status needs no token: it decides where the request for the metrics shows nothing about the connection.
 */
async function connectionError({ probe, status }: CheckSession): Promise<MergeqError | undefined> {
  const { error } = await probe()
  if (isReached(error) || error?.details.failedStep !== undefined) return error
  const read = await status()
  return read.kind === 'unknown' ? read.failure : undefined
}

const readBaseUrl = async ({ context: { settings } }: CheckSession): Promise<URL> =>
  new URL(await settings.require('baseUrl'))

const isAddress = (hostname: string): boolean => /^[\d.]+$|^\[/.test(hostname)

async function checkDns(session: CheckSession): Promise<CheckOutcome> {
  const { hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  const step = error?.details.failedStep
  if (isAddress(hostname)) return pass(`${hostname} is an IP address`)
  if (step === 'dns') return errorOutcome('fail', error)
  if (isReached(error) || step === 'connection' || step === 'tls') return pass(`${hostname} was resolved`)
  return skip(`no connection to ${hostname}`)
}

async function checkTls(session: CheckSession): Promise<CheckOutcome> {
  const { protocol, hostname } = await readBaseUrl(session)
  const error = await connectionError(session)
  if (error?.details.failedStep === 'tls') return errorOutcome('fail', error)
  if (protocol === 'http:') return pass('not used: the base URL is http')
  return isReached(error)
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

async function checkStatus({ status }: CheckSession): Promise<CheckOutcome> {
  const read = await status()
  if (read.kind === 'operational') return pass('operational')
  if (read.kind === 'outage') return warn(read.text, 'If commands fail, try again later.')
  return isNotFound(read.failure) ? pass('the service publishes no status') : skip(read.failure.message)
}

export const serviceChecks: readonly Check[] = [
  {
    check: 'DNS',
    description: 'whether the host name of the base URL can be resolved',
    needs: ['settings', 'base URL', 'proxy'],
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
    needs: ['token', 'DNS', 'TLS'],
    run: checkService,
  },
  {
    check: 'clock',
    description: "this machine's clock compared with the service's",
    needs: ['service'],
    run: checkClock,
  },
  {
    check: 'service status',
    description: 'the status that the service publishes, if any',
    needs: ['TLS'],
    run: checkStatus,
  },
]
