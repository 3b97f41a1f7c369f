import { describe, expect, test } from 'vitest'
import { mergeq } from '../support/harness.ts'

const where = { MERGEQ_REPO: 'acme/web', MERGEQ_TARGET_BRANCH: 'main', MERGEQ_PR: '7' }

const receiptIn = ({ out }: { readonly out: string }): Readonly<Record<string, unknown>> =>
  JSON.parse(out.split('\n')[0] || '{}')

test.each([
  ['pr submit 7 --set targetBranch=prod', 'targetBranch conflicts with --target-branch'],
  ['pr submit 7 --set repo.owner=null', 'repo.owner conflicts with --repo'],
  [`pr submit --set 'pr={"number":8}'`, 'pr conflicts with <pr>'],
  ['pr wait 7 --set pr.number=8', 'pr.number conflicts with <pr>'],
  ['pr testing 4f2a --set pr.number=8', 'pr.number conflicts with --pr'],
  [
    'pr targets //a --sha 4f2a9c1d0e8b7a6655443322110ffeeddccbbaa9 --set impactedTargets=[]',
    'impactedTargets conflicts with <target>',
  ],
  ['queue get --set targetBranch=prod', 'targetBranch conflicts with --target-branch'],
  ['queue delete --yes --set repo=x', 'repo conflicts with --repo'],
  ['flaky list --org acme --set repo.name=x', 'repo.name conflicts with --repo'],
])('%s is a usage error, and nothing is sent', async (line, says) => {
  const { code, out, err, requests } = await mergeq(line, { env: where })
  expect({ code, out, requests }).toEqual({ code: 2, out: '', requests: [] })
  expect(err).toMatch(new RegExp(`^mergeq: --set ${says}, which sets the same field\\.\n  Use only `))
})

describe('the body of `api` decides what is named', () => {
  const at = { repo: 'github.com/acme/web', targetBranch: 'main' }
  test.each([
    ['updateQueue -F state=PAUSED -F targetBranch=prod', { ...at, targetBranch: 'prod' }],
    [
      `submitPullRequest -F pr.number=8 -F 'repo={"host":"h","owner":"o","name":"n"}'`,
      { ...at, repo: 'h/o/n', pr: 8, submitted: null },
    ],
    [
      'setImpactedTargets -F pr.number=8 -F pr.sha=4f2a -F "impactedTargets=[1]"',
      { ...at, pr: 8, targets: 1 },
    ],
    ['cancelPullRequest', at],
    ['deleteQueue -F repo.name=web', { targetBranch: 'main' }],
  ])('%s: a change without a response is not read back, and its outcome is unknown', async (line, named) => {
    const { code, out, err, requests } = await mergeq(`api ${line} --json`, {
      env: where,
      answer: () => ({ status: 503 }),
    })
    expect({ code, requests: requests.length }).toEqual({ code: 11, requests: 1 })
    const { operation, message, ...receipt } = receiptIn({ out })
    expect(receipt).toEqual({ ...named, ok: false, delivery: 'unknown', exit: 11 })
    expect(err).not.toMatch(/Checking whether|Retrying once|undefined/)
  })
})

test.each([`${'a.'.repeat(4_000)}a=1`, `a=${'['.repeat(4_000)}`])(
  'a field of thousands of levels is a usage error',
  async field => {
    const { code, err } = await mergeq(['queue', 'update', '--set', field], { env: where })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('has too many levels') })
  },
)
