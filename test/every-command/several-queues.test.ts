import { expect, test } from 'vitest'
import { allCommands, commandDocs } from '../support/commands.ts'
import { mergeq, noon, type Seen } from '../support/harness.ts'
import type { Answer } from '../support/service.ts'

const repositories = ['api', 'gone', 'web']
const metricOf = (name: string) => `mq_depth_current{repo="acme/${name}",branch="main",queue_type="main"} 1\n`
const files = Object.fromEntries(
  repositories.map(name => [`q/${name}.yaml`, `repo: acme/${name}\ntargetBranch: main\nsettings: {}\n`]),
)

/** Three queues, of which one is gone. */
function answer({ path, body }: Seen): Answer {
  const headers = { date: new Date(noon).toUTCString() }
  if (/Metrics/.test(path)) {
    const wanted = repositories.filter(name => !path.includes('repo') || path.includes(name))
    return { headers, body: wanted.map(metricOf).join('') }
  }
  if (body.includes('"gone"')) return { status: 404, headers, body: 'Not Found' }
  if (/TestingResults$/.test(path)) return { headers, body: '{"testingResults":[],"totalItems":0}' }
  if (/Queue$/.test(path))
    return { headers, body: '{"state":"running","branch":"main","concurrency":1,"enqueuedPullRequests":[]}' }
  if (/listPullRequests$/.test(path)) return { headers, body: '{"pullRequests":[]}' }
  return { status: 404, headers, body: 'Not Found' }
}

/** The commands that take several queues, without those that write queue files; what each needs besides. */
const needs = new Map([
  ['queue pause', '--yes'],
  ['queue resume', '--yes'],
  ['queue drain', '--yes'],
  ['queue watch', '-o ndjson --once'],
])
const commands = allCommands
  .map(({ name }) => name)
  .filter(name => {
    const flags = commandDocs.find(({ command }) => command === name)?.flags ?? []
    return ['--all', '--file'].every(option => flags.some(({ name }) => name === option))
  })
  .filter(name => !['queue export'].includes(name))

test('these commands take several queues', () => {
  expect(commands).toEqual(expect.arrayContaining(['queue report', 'queue runs', 'queue explain']))
  expect(commands.length).toBeGreaterThanOrEqual(9)
})

test.each(commands)('%s: all queues, those of files, one that fails does not hide the others', async name => {
  const line = `${name} ${needs.get(name) ?? ''}`
  const json = name === 'queue watch' ? '' : '-o ndjson'
  for (const which of ['--all', '-f q']) {
    const { code, out, err } = await mergeq(`${line} ${json} ${which}`, { answer, files })
    expect({ code, err }).toEqual({ code: 5, err: expect.stringContaining('acme/gone') })
    if (name !== 'queue runs')
      for (const other of ['api', 'web']) expect(out).toContain(`"repo":"github.com/acme/${other}"`)
    const limited = await mergeq(`${line} ${json} ${which} -R acme/web`, { answer, files })
    expect(limited.code, limited.err).toBe(0)
    expect(limited.requests.some(({ body }) => /"(?:api|gone)"/.test(body))).toBe(false)
    const branch = await mergeq(`${line} ${which} -b main`, { answer, files })
    expect({ code: branch.code, requests: branch.requests.length }).toEqual({ code: 2, requests: 0 })
    const dry = await mergeq(`${line} ${which} --dry-run`, { answer, files })
    expect(dry.code, dry.err).toBe(0)
  }
  expect(await mergeq(`${line} --all -f q`, { answer, files })).toMatchObject({ code: 2, requests: [] })
})
