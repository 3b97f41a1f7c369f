import type { JsonObject } from '../../src/base/json.ts'
import type { Answer, Seen, Setting } from './harness.ts'

/** The rows of queues of acme/web. */
export const rows = (...texts: readonly string[]): string =>
  texts.map(text => `github.com/acme/web\t${text}\n`).join('')

/** Rows without their last column, a sentence. */
export const withoutSentences = (out: string): string => out.replace(/\t[^\t\n]*$/gm, '')

export const withFile = (text: string, more: Setting = {}): Setting => ({
  files: { 'q.yaml': text },
  ...more,
})

export const live: JsonObject = {
  state: 'running',
  branch: 'main',
  mode: 'single',
  concurrency: 1,
  batch: false,
  requiredStatuses: [],
  allowedBotSubmitters: ['bot'],
  batchingRules: [],
  enqueuedPullRequests: [],
}
export const where = '-R acme/web -b main'
export const bodiesOf = (requests: readonly Seen[], operation: string): readonly JsonObject[] =>
  requests.filter(({ path }) => path.endsWith(`/${operation}`)).map(({ body }) => JSON.parse(body))
export const namesOf = (requests: readonly Seen[]) => requests.map(({ path }) => path.split('/').at(-1))

/** A queue that takes updates; `answer` may answer in its place. */
export function queueThat(
  answer: (operation: string, index: number, queue: JsonObject) => Answer | undefined = () => undefined,
) {
  let queue = live
  return (seen: Seen, index: number): Answer => {
    const operation = seen.path.split('/').at(-1) ?? ''
    const { repo, targetBranch, ...settings } = JSON.parse(seen.body)
    const instead = answer(operation, index, queue)
    if (instead !== undefined) return instead
    if (operation === 'updateQueue') queue = { ...queue, ...settings }
    return { body: operation === 'getQueue' ? JSON.stringify(queue) : 'OK' }
  }
}

export const fileOfRepository = (index: number, settings: string) =>
  `repo: acme/r${index}\ntargetBranch: main\n${settings}`
/** Files of 40 repositories: r7 is denied, r8 has no queue, r9 is wrong on the service, and all others match. */
export const filesOf40Repositories = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `queues/r${String(index).padStart(2, '0')}.yaml`,
    fileOfRepository(index, 'settings: {batch: false}'),
  ]),
)
/** A service for them that remembers which queues were created and updated. */
export function serve40Repositories() {
  const changes: string[] = []
  const answer = ({ path, body }: Seen): Answer => {
    const { name } = JSON.parse(body).repo
    if (name === 'r7') return { status: 403 }
    const isChanged = changes.includes(name)
    if (name === 'r8' && !isChanged && path.endsWith('getQueue')) return { status: 404, body: 'Not Found' }
    if (!path.endsWith('getQueue')) changes.push(name)
    return { body: JSON.stringify({ ...live, batch: name === 'r9' && !isChanged }) }
  }
  return { answer, files: filesOf40Repositories, changes }
}
export const rowOf = (name: string, text: string) => `github.com/acme/${name}\tmain\t${text}\n`
