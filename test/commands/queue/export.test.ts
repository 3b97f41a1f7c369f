import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/base/json.ts'
import { files } from '../../../src/host/files.ts'
import { mergeq, type Setting } from '../../support/harness.ts'
import { testOnPosix } from '../../support/programs.ts'
import { bodiesOf, live, namesOf, where } from '../../support/queue-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('export', () => {
  const exportOf = (queue: JsonObject, flags = '', setting: Setting = {}) =>
    mergeq(`queue export ${where} ${flags}`, {
      answer: () => ({ body: JSON.stringify(queue) }),
      ...setting,
    })

  test('omits settings that are read-only, have no value, cannot be set again or cannot be seen', async () => {
    const odd = {
      ...live,
      notReadyTimeoutHours: null,
      batchingMaxWaitTimeMinutes: 0,
      mode: 'both',
      newThing: null,
      invisible: 'a\u202Eb\u0085c',
      'k\u200B': 1,
      requiredStatuses: null,
    }
    const { out, err, code } = await exportOf(odd, '--json')
    expect({ code, settings: JSON.parse(out).settings }).toEqual({
      code: 0,
      settings: { concurrency: 1, batch: false, requiredStatuses: null, newThing: null },
    })
    expect(err).toContain('live values cannot be set: mode, batchingMaxWaitTimeMinutes, invisible, k')
    const switching = await exportOf({ ...live, state: 'switching_modes' }, '--include-state')
    expect(switching.err).toContain('live values cannot be set: state.')
  })

  test('a file keeps its comments, its order and its other contents', async () => {
    const before =
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 4 # was 2\n  state: paused\n  requiredStatuses: [ci] # from CI\n  gone: 1\n\n  mode: "single"\n# the end\n'
    const disk = new Map([['q.yaml', before]])
    const now = { ...live, requiredStatuses: ['ci', 'e2e'] }
    expect((await exportOf(now, '-f q.yaml', { disk })).code).toBe(0)
    expect(disk.get('q.yaml')).toBe(
      '# ours\nrepo: acme/web # mind the name\n\nsettings:\n  # one at a time\n  concurrency: 1 # was 2\n  state: paused\n  requiredStatuses: [ ci, e2e ] # from CI\n\n  mode: "single"\n  batch: false\ntargetBranch: main\n\n# the end\n',
    )
    const again = await exportOf(now, '-f q.yaml', { disk })
    expect(again.err).toContain('q.yaml is up to date with the queue for main of acme/web.')
  })

  test('a file keeps its $schema, which nobody reads', async () => {
    const disk = new Map([
      ['q.yaml', '$schema: ./s.json\nsettings: {batch: true}\n'],
      ['q.json', '{"settings": {}, "$schema": "./s.json"}'],
    ])
    for (const name of disk.keys()) expect((await exportOf(live, `-f ${name}`, { disk })).code).toBe(0)
    expect(disk.get('q.yaml')).toMatch(/^\$schema: \.\/s\.json\n/)
    expect(Object.keys(JSON.parse(disk.get('q.json') ?? ''))).toEqual([
      '$schema',
      'repo',
      'targetBranch',
      'settings',
    ])
  })

  test.each([
    ['-f defaults.yaml', '', 2, 'defaults.yaml has defaults, which name no queue.'],
    ['-f q.txt', '', 2, 'must end in .yaml, .yml or .json'],
    ['-f q.yaml --json', '', 2, 'does not match the extension'],
    ['-o csv', '', 2, 'A queue file is YAML or JSON.'],
    ['--fields settings', '', 2, 'A queue file is YAML or JSON.'],
    ['-f old.yaml', 'targetBranch: next', 2, '--target-branch is main, but old.yaml is for next'],
    ['-f q.yaml', '', 16, 'q.yaml could not be written: read-only file system.'],
  ])('%s over a file of %j ends with %i', async (flags, old, exit, message) => {
    const { code, out, err } = await exportOf(live, flags, { files: { 'old.yaml': old } })
    expect({ code, out }).toEqual({ code: exit, out: '' })
    expect(err).toContain(message)
  })

  describe('--all', () => {
    const queues = [
      ['acme/web', 'main'],
      ['acme/web', 'release/2.4'],
      ['acme/api', 'main'],
    ] as const
    const fileOf = (repo: string, branch: string) => `queues/${repo}@${branch.replace('/', '%2F')}.yaml`
    const metrics = queues
      .map(([repo, branch]) => `mq_depth_current{repo="${repo}",branch="${branch}"} 1\n`)
      .join('')
    const exportAll = (flags: string, setting: Setting = {}, text = metrics) =>
      mergeq(`queue export --all ${flags}`, {
        env: { MERGEQ_REPO: 'acme/other', MERGEQ_TARGET_BRANCH: 'other' },
        answer({ path, body }) {
          if (path.includes('getMergeQueueMetrics')) return { body: text }
          return JSON.parse(body).repo.name === 'api' ? { status: 503 } : { body: JSON.stringify(live) }
        },
        ...setting,
      })

    test('writes a file for each queue that the metrics name, and goes on after one that fails', async () => {
      const disk = new Map<string, string>()
      const { code, out, err } = await exportAll('-f queues --retries 0', { disk })
      expect({ code, out, files: [...disk.keys()] }).toEqual({
        code: 7,
        out: '',
        files: [fileOf('acme/web', 'main'), fileOf('acme/web', 'release/2.4')],
      })
      expect(disk.get('queues/acme/web@release%2F2.4.yaml')).toContain(
        'repo: github.com/acme/web\ntargetBranch: release/2.4\nsettings:\n  mode: single\n',
      )
      expect(err).toContain('Exported the queue for main of acme/web to queues/acme/web@main.yaml.')
      expect(err).toMatch(/\nmergeq: .*main of acme\/api \(503\)\./)
      const diff = await mergeq('queue diff -f queues', {
        disk,
        answer: () => ({ body: JSON.stringify(live) }),
      })
      expect(diff.code).toBe(0)
    })

    test('-R and -b select queues, and -R gives the host', async () => {
      const disk = new Map<string, string>()
      const { code, requests } = await exportAll('-f queues -R git.acme.example/acme/web', { disk })
      expect({ code, asked: requests[0]?.path }).toEqual({
        code: 7,
        asked: '/v1/getMergeQueueMetrics?repo=acme%2Fweb&repoHost=git.acme.example',
      })
      const branch = new Map<string, string>()
      expect((await exportAll('-f queues -b release/2.4', { disk: branch })).code).toBe(0)
      expect([...branch.keys()]).toEqual([fileOf('acme/web', 'release/2.4')])
    })

    test('existing files need --yes or an answer, keep their comments, and must be of the same queue', async () => {
      const disk = () => new Map([[fileOf('acme/web', 'main'), '# ours\nsettings: {batch: true}\n']])
      const only = '-f queues -b main -R acme/web'
      const text = metrics.replace(/.*acme\/api.*\n/, '')
      const refused = await exportAll(only, { disk: disk() }, text)
      expect({ code: refused.code, sent: namesOf(refused.requests).length }).toEqual({ code: 2, sent: 1 })
      expect(refused.err).toBe(
        'mergeq: queues already has 1 file of this export.\n  To update existing files, add --yes.\n',
      )
      const person = { inputTerminal: true, terminal: true }
      expect((await exportAll(only, { disk: disk(), ...person, typed: ['n'] }, text)).code).toBe(2)
      expect((await exportAll(only, { disk: disk(), ...person, typed: ['y'] }, text)).code).toBe(0)
      const written = disk()
      expect((await exportAll(`${only} --yes`, { disk: written }, text)).code).toBe(0)
      expect([...written.values()]).toEqual([expect.stringMatching(/^# ours\nsettings: \{ batch: false/)])
      const other = new Map([[fileOf('acme/web', 'main'), 'targetBranch: next']])
      const { code, err } = await exportAll(`${only} --yes`, { disk: other }, text)
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining('--target-branch is main, but queues/'),
      })
    })

    test('updates the file that describes a queue, and leaves out what its defaults give', async () => {
      const disk = new Map([
        ['queues/defaults.yaml', 'settings: {concurrency: 1, mode: parallel}'],
        [
          'queues/teams/a.yaml',
          'repo: git.acme.example/ACME/web\ntargetBranch: main\nsettings: {batch: true}\n',
        ],
      ])
      const { code, requests } = await exportAll(
        '-f queues --yes',
        { disk },
        metrics.replace(/.*acme\/api.*\n/, ''),
      )
      expect({ code, files: [...disk.keys()].slice(2) }).toEqual({
        code: 0,
        files: ['queues/acme/web@release%2F2.4.yaml'],
      })
      expect(disk.get('queues/teams/a.yaml')).toMatch(
        /^repo: git.acme.example\/ACME\/web\ntargetBranch: main\nsettings: \{ batch: false, mode: single, .*\}\n$/,
      )
      expect(disk.get('queues/acme/web@release%2F2.4.yaml')).not.toContain('concurrency')
      expect(bodiesOf(requests, 'getQueue')).toContainEqual({
        repo: { host: 'git.acme.example', owner: 'ACME', name: 'web' },
        targetBranch: 'main',
      })
      const diff = await mergeq('queue diff -f queues', {
        disk,
        answer: () => ({ body: JSON.stringify(live) }),
      })
      expect({ code: diff.code, out: diff.out }).toEqual({ code: 0, out: '' })
    })

    test.each([
      ['', metrics, 2, '--all requires --file.'],
      ['-f queues --json', metrics, 2, '--output json does not match the extension of *.yaml.'],
      ['-f queues', 'up 1\n', 5, 'No queue has metrics.'],
      [
        '-f queues',
        'mq_depth_current{branch="main"} 1\n',
        15,
        'The metrics name no repository of the queue for main.',
      ],
      ['-f queues -b release/2.4', metrics, 16, 'could not be written: read-only file system.'],
    ])('%s with the metrics %j ends with %i', async (flags, text, exit, message) => {
      const { code, out, err } = await exportAll(flags, { env: {} }, text)
      expect({ code, out, err }).toEqual({ code: exit, out: '', err: expect.stringContaining(message) })
    })
  })

  const folder = temporaryFolder('mergeq-code-')
  testOnPosix(
    'a real file is replaced in one step: its mode and a link to it stay, and no other file is left',
    async () => {
      const at = (name: string) => join(folder, name)
      writeFileSync(at('q.yaml'), 'old', { mode: 0o640 })
      symlinkSync('q.yaml', at('link.yaml'))
      await files.replace(at('link.yaml'), 'new\n')
      await files.replace(at('fresh.yaml'), 'fresh\n')
      expect(readFileSync(at('q.yaml'), 'utf8')).toBe('new\n')
      expect(statSync(at('q.yaml')).mode & 0o777).toBe(0o640)
      symlinkSync('gone.yaml', at('dangling.yaml'))
      const dangling = files.replace(at('dangling.yaml'), 'x')
      await expect(dangling).rejects.toThrow('it is a link to a file that does not exist')
      await expect(files.replace(folder, 'x')).rejects.toThrow('it is not a regular file')
      await expect(files.replace(at('no/q.yaml'), 'x')).rejects.toThrow('ENOENT')
      expect(readdirSync(folder).sort()).toEqual(['dangling.yaml', 'fresh.yaml', 'link.yaml', 'q.yaml'])
    },
  )
})
