import { firstHeadOf, pushedHead } from './faulty-sandbox.ts'
import { queueChanges } from './operations.ts'

const queueFile = (branch: string) => `targetBranch: ${branch}\nsettings:\n  concurrency: 5\n  batch: true\n`
const [main, prod] = [queueFile('main'), queueFile('prod')]
const states = JSON.stringify([
  { repo: 'github.com/acme/web', targetBranch: 'main', before: 'RUNNING', after: 'PAUSED' },
  { repo: 'github.com/acme/web', targetBranch: 'prod', before: 'DRAINING', after: 'PAUSED' },
])

/** The files that the command lines read. */
export const files = {
  '/repo/queue.yaml': main,
  'queue.yaml': main,
  '/repo/queues/main.yaml': main,
  '/repo/queues/prod.yaml': prod,
  '/repo/states.json': states,
}

/** A command line of a random history, and the keys that it must concern: `main#7`, or `main` for a queue. */
export interface Command {
  readonly line: string
  readonly keys: readonly string[]
}

const about = (keys: readonly string[], ...lines: readonly string[]): readonly Command[] =>
  lines.map(line => ({ line, keys }))

const [first, pushed] = [firstHeadOf(7), pushedHead]

export const commands: readonly Command[] = [
  ...queueChanges.map(({ line, operation }) => ({
    line,
    keys: ['pr' in operation.params ? 'main#7' : 'main'],
  })),
  ...about(
    ['main#7'],
    'pr submit 7',
    'pr submit 7 --priority 50',
    'pr submit 7 --no-batch',
    'pr submit 7 --retries 0',
    'pr cancel 7 --retries 0',
    'pr submit 7 --wait --timeout 3m --interval 5s',
    'pr submit 7 --wait --timeout 40s --interval 5s',
    'pr submit 7 --wait --timeout 3m --interval 2s --until testing',
    'pr submit 7 --wait --timeout 6s --interval 1s',
    'pr submit 7 --wait --timeout 3m --interval 1s --grace 5s',
    'pr submit 7 --wait --timeout 3m --interval 5s --priority high',
    'pr submit 7 --wait --timeout 3m --interval 5s --no-batch',
    'pr submit 7 --wait --timeout 0',
    'pr submit 7 --wait --timeout 40s --interval 1s --retries 0',
    'pr submit 7 --wait --timeout 40s --interval 1s --give-up-after 1s',
    'pr submit 7 --wait --timeout 40s --interval 2s --fail-on-paused',
    'pr land 7 --timeout 60s --interval 1s --give-up-after 2s --resubmit any',
    'pr land 7 --timeout 60s --interval 2s --retries 0 --resubmit any',
    'pr land 7 --timeout 3m --interval 5s',
    'pr land 7 --timeout 3m --interval 1s --grace 5s',
    'pr land 7 --timeout 20s --interval 2s --resubmit any',
    'pr land 7 --timeout 3m --interval 2s --resubmit any',
    'pr land 7 --timeout 20m --interval 30s --resubmit any',
    'pr land 7 --timeout 90s --interval 2s --resubmit any --until testing --priority high',
    'pr wait 7 --timeout 60s --interval 2s',
    'pr wait 7 --timeout 40s --interval 1s --until testing --give-up-after 2s',
    `pr wait 7 --match-head ${first} --timeout 40s --interval 2s`,
    `pr submit 7 --match-head ${first}`,
    `pr submit 7 --wait --match-head ${first} --timeout 3m --interval 2s`,
    `pr submit 7 --wait --match-head ${pushed} --timeout 90s --interval 2s`,
    `pr land 7 --match-head ${first} --timeout 3m --interval 2s --resubmit any`,
    `pr land 7 --match-head ${pushed} --timeout 90s --interval 2s --resubmit any`,
    'api submitPullRequest -F pr.number=7',
    'api cancelPullRequest -F pr.number=7',
    'api restartTestsOnPullRequest -F pr.number=7',
  ),
  ...about([], 'pr wait - --timeout 40s', 'pr submit - --wait --timeout 20s', 'pr land - --timeout 20s'),
  ...about(
    ['main#7', 'main#8'],
    'pr submit 7 8 --wait --timeout 3m --interval 5s',
    'pr submit 7 8 --wait --timeout 3m --interval 5s --stop-on-error',
    'pr submit 7 8 --wait --timeout 40s --interval 1s --give-up-after 1s',
    'pr land 7 8 --timeout 2m --interval 2s --resubmit any',
    'pr land 7 8 --timeout 90s --interval 2s --stop-on-error',
    'pr wait 7 8 --timeout 40s --interval 2s',
    'pr restart 7 8',
  ),
  ...about(
    ['main#7', 'main#8', 'main#9'],
    'pr submit 7 8 9',
    'pr submit 7 8 9 --stop-on-error',
    'pr cancel 7 8 9 --yes',
    'pr cancel 7 8 9 --yes --stop-on-error',
  ),
  ...about(
    ['prod#7'],
    'pr cancel 7 -b prod',
    'pr submit 7 -b prod --wait --timeout 40s --interval 5s',
    'api submitPullRequest -F pr.number=7 -F targetBranch=prod -F priority=high',
    'api cancelPullRequest -F pr.number=7 -F targetBranch=prod',
  ),
  ...about(
    ['main'],
    'queue update --set concurrency=7',
    'queue pause',
    'queue resume',
    'queue drain',
    'queue apply -f queue.yaml --create --yes',
    'queue apply -f queue.yaml --yes',
    'api createQueue -F mode=parallel',
    'api deleteQueue',
  ),
  ...about(
    ['main', 'prod'],
    'queue apply -f /repo/queues --create --yes',
    'queue pause -f /repo/queues --yes',
    'queue resume -f /repo/queues --yes',
    'queue pause --all --yes',
    'queue resume --from /repo/states.json --yes',
  ),
  ...about(
    ['prod'],
    'queue create -b prod',
    'queue delete -b prod --yes',
    'api updateQueue -F state=PAUSED -F targetBranch=prod',
  ),
  ...about(['main', 'main#7', 'main#8', 'main#9'], 'queue delete --cancel-all --yes'),
  ...about([], 'api renumberPullRequest -F pr.number=7'),
]
