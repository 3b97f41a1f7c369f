import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MergeqError } from '../../src/base/errors.ts'
import { allCommands } from '../support/commands.ts'
import { type Answer, mergeq, type Outcome, queueEnv, type Seen } from '../support/harness.ts'
import { changeExamples } from '../support/operations.ts'
import { randomSeed } from '../support/random-seed.ts'

type Signal = readonly [name: NodeJS.Signals, exit: number]
const sigint: Signal = ['SIGINT', 130]
const signals: readonly Signal[] = [sigint, ['SIGTERM', 143], ['SIGHUP', 129]]

const queue = { state: 'RUNNING', concurrency: 1, enqueuedPullRequests: [{ prNumber: 7 }, { prNumber: 8 }] }
const record = { state: 'PENDING', isCurrentlySubmittedToQueue: true }

interface Stop {
  /** Whether a request is left without an answer. */
  readonly hangs: (seen: Seen, operation: string) => boolean
  /** After how many of those the signal comes; 1 where nothing else is said. */
  readonly after?: number
  readonly files?: Readonly<Record<string, string>>
  readonly input?: string
}

/** Runs a command line; the signal comes once the requests that hang have arrived. */
async function interrupted(line: string, [signal, exit]: Signal, stop: Stop): Promise<Outcome> {
  const controller = new AbortController()
  const { hangs: isHanging, after = 1, ...setting } = stop
  let arrived = 0
  return mergeq(line, {
    ...setting,
    env: queueEnv,
    signal: controller.signal,
    answer(seen): Answer | Promise<Answer> {
      const operation = seen.path.replace('/v1/', '')
      if (isHanging(seen, operation)) {
        if (++arrived === after)
          controller.abort(new MergeqError('interrupted', `stopped by ${signal}.`, { exit }))
        return new Promise<Answer>(() => undefined)
      }
      return { body: JSON.stringify(operation === 'getQueue' ? queue : record) }
    },
  })
}

// The environment gives the repository and the branch: the commands do not repeat them.
const testedChanges = changeExamples.map(({ name, line, change, operation: { params } }) => {
  const ofQueue = 'targetBranch' in params ? 'mergeq queue get' : undefined
  const command = 'pr' in params ? 'mergeq pr get 7' : ofQueue
  return { line, operation: name, what: change?.name, command }
})

/** Further command lines that send one of these operations. */
const otherLines = [
  { line: 'pr submit 7 --wait', operation: 'submitPullRequest' },
  { line: 'queue pause', operation: 'updateQueue' },
  { line: 'queue resume', operation: 'updateQueue' },
  { line: 'queue drain', operation: 'updateQueue' },
  { line: 'queue delete --yes --cancel-all', operation: 'cancelPullRequest' },
  {
    line: 'queue apply -f queue.yaml --yes',
    operation: 'updateQueue',
    command: 'mergeq queue get --repo github.com/acme/web --target-branch main',
  },
  { line: 'api updateQueue -F state=PAUSED', operation: 'updateQueue' },
].map(other => ({ ...testedChanges.find(({ operation }) => operation === other.operation), ...other }))
const files = { 'queue.yaml': 'repo: github.com/acme/web\ntargetBranch: main\nsettings:\n  concurrency: 3\n' }

test.each([...testedChanges, ...otherLines])(
  'a signal during `mergeq $line`, a request of $operation, names $what and the command that shows its state',
  async ({ line, operation, what, command }) => {
    const { code, err } = await interrupted(line, sigint, { files, hangs: (_, sent) => sent === operation })
    expect(code).toBe(130)
    expect(err).toContain(
      `mergeq: stopped by SIGINT. ${what} was in progress and may have been applied.\n` +
        `  Check the current state before trying again${command === undefined ? '.' : `: ${command}`}\n`,
    )
    expect(err.match(/may have been applied/g)).toHaveLength(1)
  },
)

test.each(signals)('%s during several changes names every one that is in flight', async (...signal) => {
  const { code, err, out } = await interrupted('pr cancel 7 8 9 10 11 --yes --json', signal, {
    hangs: () => true,
    after: 4,
  })
  expect(code).toBe(signal[1])
  expect(JSON.parse(err.trimEnd().split('\n').at(-1) ?? '')).toEqual({
    error: {
      kind: 'interrupted',
      exit: signal[1],
      operation: 'cancelPullRequest',
      message: `stopped by ${signal[0]}. The cancellations of #7, #8, #9, #10 were in progress and may have been applied.`,
      hint: `Check the current state before trying again: mergeq pr get 7 8 9 10`,
    },
  })
  expect(out.trimEnd().split('\n')).toHaveLength(4)
  for (const [index, receipt] of out.trimEnd().split('\n').entries())
    expect(JSON.parse(receipt)).toMatchObject({
      pr: 7 + index,
      delivery: 'unknown',
      message: expect.stringContaining(`The cancellation of #${7 + index} was in progress`),
    })
})

test('pull requests of several repositories: one command for each queue', async () => {
  const { err } = await interrupted('pr cancel 7 https://github.com/acme/app/pull/8 9 --yes', sigint, {
    hangs: () => true,
    after: 3,
  })
  expect(err).toContain(
    'The cancellations of #7, #8, #9 were in progress and may have been applied.\n' +
      '  Check the current state before trying again:\n' +
      '  mergeq pr get 7 9\n' +
      '  mergeq pr get 8 --repo github.com/acme/app\n',
  )
})

test('the signal is reported once while a change is read back or retried', async () => {
  for (const again of [false, true]) {
    let sent = 0
    const controller = new AbortController()
    const stop = () => {
      controller.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
      return new Promise<Answer>(() => undefined)
    }
    const { code, err } = await mergeq('pr submit 7', {
      env: queueEnv,
      signal: controller.signal,
      answer({ path }) {
        if (path.endsWith('/submitPullRequest')) return ++sent === 1 ? { status: 503 } : stop()
        return again ? { status: 404, body: '{}' } : stop()
      },
    })
    expect(code).toBe(130)
    expect(err).toContain(
      'mergeq: stopped by SIGINT. The submission of #7 was in progress and may have been applied.\n' +
        `  Check the current state before trying again: mergeq pr get 7\n`,
    )
    expect(err.match(/may have been applied/g)).toHaveLength(1)
  }
})

/** Returns outputs that send a signal when they show a text that passes a check. */
function signalWhen(isReached: (text: string) => boolean) {
  const controller = new AbortController()
  const screen: string[] = []
  screen.push = text => {
    if (isReached(text)) controller.abort(new MergeqError('interrupted', 'stopped by SIGINT.', { exit: 130 }))
    return 0
  }
  return { screen, signal: controller.signal }
}

test.each(['7', '7 8'])(
  'a signal between the last submission and the wait ends pr submit %s --wait',
  async prs => {
    let submitted = 0
    const count = prs.split(' ').length
    const { code, err } = await mergeq(`pr submit ${prs} --wait -v -R acme/web -b main`, {
      ...signalWhen(text => submitted === count && text.includes('< 200')),
      answer({ path }) {
        if (!path.endsWith('/submitPullRequest')) return { status: 404, body: '{}' }
        submitted++
        return { body: 'OK' }
      },
    })
    expect({ code, submitted }).toEqual({ code: 130, submitted: count })
    expect(err).toContain('Only the wait has ended; mergeq cancelled nothing.')
  },
)

test('queue apply names the queues that a signal left as they were', async () => {
  const queueFile = (branch: string) =>
    `repo: acme/web\ntargetBranch: ${branch}\nsettings:\n  concurrency: 5\n`
  const files = { 'q/a.yaml': queueFile('main'), 'q/b.yaml': queueFile('next') }
  let updates = 0
  const { code, err } = await mergeq('queue apply -f q --yes', {
    files,
    ...signalWhen(() => updates === 1),
    answer({ path }) {
      if (path.endsWith('/updateQueue')) updates++
      return { body: JSON.stringify({ concurrency: updates === 0 ? 1 : 5, enqueuedPullRequests: [] }) }
    },
  })
  expect({ code, updates }).toEqual({ code: 130, updates: 1 })
  expect(err).toMatch(
    /\nmergeq: Stopped early\. Done: main of acme\/web\. Not sent: next of acme\/web\.\nmergeq: stopped by SIGINT\.\n$/,
  )
})

test('an unknown operation has no command', async () => {
  const { err } = await interrupted('api frobnicate -F a=1', sigint, { hangs: () => true })
  expect(err).toBe(
    'mergeq: stopped by SIGINT. The request was in progress and may have been applied.\n' +
      '  Check the current state before trying again.\n',
  )
})

test('a read names no change', async () => {
  const { code, err } = await interrupted('pr get 7', sigint, { hangs: () => true })
  expect({ code, err }).toEqual({ code: 130, err: 'mergeq: stopped by SIGINT.\n' })
})

describe('a signal at a random moment gives rows, and says what is in progress and what was not sent', () => {
  const branches = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']
  const pulls = ['#11', '#12', '#13', '#14', '#15', '#16']
  const numbers = pulls.map(pull => pull.slice(1))
  const tests = pulls.map((_, index) => `0b9f2c1e-7d3a-4e5f-8a6b-00000000000${index}`)
  const files = {
    'queues.yaml': branches
      .map(branch => `- targetBranch: ${branch}\n  repo: acme/web\n  settings: {concurrency: 3}\n`)
      .join(''),
    'states.json': JSON.stringify(
      branches.map(targetBranch => ({ repo: 'acme/web', targetBranch, before: 'PAUSED', after: 'RUNNING' })),
    ),
  }
  const states = (command: string) => [
    `${command} --all --yes`,
    `${command} -f queues.yaml --yes`,
    `${command} --all --yes --record record.json`,
  ]

  const changing = allCommands.filter(({ operation, alsoSends = [] }) =>
    [operation, ...alsoSends].some(sent => typeof sent === 'object' && sent.change !== undefined),
  )
  /** Commands that take several pull requests. */
  const ofPulls = changing.filter(({ definitions }) =>
    definitions.some(({ name, variadic }) => name === 'pr' && variadic),
  )

  /** What each command that changes something types for several things; nothing, where it changes one. */
  const lines: Readonly<Record<string, readonly string[]>> = {
    ...Object.fromEntries(ofPulls.map(({ command }) => [command, [`${command} ${numbers.join(' ')} --yes`]])),
    'pr submit': [`pr submit ${numbers.join(' ')}`, `pr submit ${numbers.join(' ')} --wait`],
    'pr land': [`pr land ${numbers.join(' ')}`],
    'queue delete': ['queue delete --cancel-all --yes'],
    'queue pause': states('queue pause'),
    'queue drain': states('queue drain'),
    'queue resume': [...states('queue resume'), 'queue resume --from states.json --yes'],
    'queue apply': [
      'queue apply -f queues.yaml --yes',
      'queue apply -f queues.yaml --yes --record record.json',
    ],
    'flaky link': ['flaky link - --yes'],
  }
  const namesOf = (line: string): readonly string[] => {
    if (line.startsWith('flaky link')) return tests
    return line.startsWith('pr ') || line.startsWith('queue delete') ? pulls : branches
  }
  const isChange = (path: string) => changeExamples.some(({ name }) => path.endsWith(`/${name}`))

  test('every command that changes the queues of files has its lines', () => {
    const ofFiles = changing.filter(({ definitions }) => definitions.some(({ name }) => name === '--file'))
    expect(Object.keys(lines)).toEqual(expect.arrayContaining(ofFiles.map(({ command }) => command)))
  })

  /** Six queues or pull requests; a landing finds none of them in the queue. */
  function answerOf(line: string) {
    const changed = new Set<unknown>()
    const record = (pr: unknown) => ({
      prNumber: Number(pr),
      state: 'PENDING',
      isCurrentlySubmittedToQueue: true,
    })
    const isThere = (number: number) => !line.startsWith('pr land') || changed.has(number)
    const state = /resume -(?!-from)/.test(line) ? 'PAUSED' : 'RUNNING'
    return ({ path, body }: Seen): Answer => {
      if (path.includes('Metrics'))
        return {
          body: branches.map(name => `mq_depth_current{repo="acme/web",branch="${name}"} 1\n`).join(''),
        }
      const { pr, prs, targetBranch } = JSON.parse(body)
      if (isChange(path)) {
        changed.add(pr?.number ?? targetBranch)
        return { body: 'OK' }
      }
      const asked: readonly number[] | undefined = prs?.map((each: { number: number }) => each.number)
      if (asked !== undefined) {
        const notFound = asked.filter(number => !isThere(number))
        return { body: JSON.stringify({ pullRequests: asked.filter(isThere).map(record), notFound }) }
      }
      if (pr !== undefined)
        return isThere(pr.number) ? { body: JSON.stringify(record(pr.number)) } : { status: 404 }
      const live = { state, targetBranch, concurrency: changed.has(targetBranch) ? 3 : 1 }
      return { body: JSON.stringify({ ...live, enqueuedPullRequests: numbers.map(record) }) }
    }
  }

  /** So many changes are answered, and the signal comes when so many more have arrived. */
  const moment = fc.record({ answered: fc.nat(2), waiting: fc.integer({ min: 1, max: 3 }) })

  test.each(Object.values(lines).flat())('%s', async line => {
    const moments = fc.sample(moment, { numRuns: signals.length, seed: randomSeed + line.length })
    for (const [index, [signal, exit]] of signals.entries()) {
      const { answered = 0, waiting = 1 } = moments[index] ?? {}
      const controller = new AbortController()
      const stop = () => controller.abort(new MergeqError('interrupted', `stopped by ${signal}.`, { exit }))
      const answer = answerOf(line)
      let arrived = 0
      const { code, out, err } = await mergeq(line, {
        env: { ...queueEnv, ...(namesOf(line) === branches ? { MERGEQ_TARGET_BRANCH: undefined } : {}) },
        disk: new Map(Object.entries(files)),
        input: tests.map(id => `${id} KAN-1\n`).join(''),
        signal: controller.signal,
        async answer(seen) {
          if (!isChange(seen.path) || ++arrived <= answered) return answer(seen)
          if (arrived >= answered + waiting) stop()
          else setTimeout(stop, 100)
          return new Promise<Answer>(() => undefined)
        },
      })
      const said = `${signal}, ${answered} answered, ${waiting} waiting\n${out}\n${err}`
      expect(code, said).toBe(exit)
      expect(err, said).toContain(`stopped by ${signal}.`)
      expect(err, said).toMatch(/[Ii]n progress|Still in the queue/)
      const isNamed = (name: string) => new RegExp(`${name}\\b`).test(out + err)
      const unnamed = namesOf(line).filter(name => !isNamed(name) && !isNamed(name.replace('#', '')))
      expect(unnamed, said).toEqual([])
    }
  })
})
