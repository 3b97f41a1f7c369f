import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settingDefinitions } from '../../src/config/setting-definitions.ts'
import { mergeq, openStory } from '../support/harness.ts'
import { commandDocs, examples, storingCommands } from '../support/help.ts'
import { bareEnvironment, launcher, testWith } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('every variable that the source reads is in `help environment`, but those of CI jobs and of the system', async () => {
  const text = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.ts') && !/^config\/(ci|ci-systems)\.ts$/.test(path))
    .map(path => readFileSync(join('src', path), 'utf8'))
    .concat(readFileSync(launcher, 'utf8'))
    .join('\n')
  const read = [...text.matchAll(/\benv\??\.([A-Z][A-Z_]+)/g)].map(([, name = '']) => name)
  const system = [
    'HOME',
    'PATH',
    'APPDATA',
    'LOCALAPPDATA',
    'USERPROFILE',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'GIT_CONFIG_COUNT',
    // Git Bash sets it.
    'MSYSTEM',
  ]
  const environment = (await mergeq('help environment')).out.replace(/\s+/g, ' ')
  const settings = Object.values(settingDefinitions).flatMap(({ env }) => env)
  expect(read.length).toBeGreaterThan(10)
  for (const name of [...new Set([...read, ...settings])].filter(
    name => !system.includes(name) && !isOfRunner(name),
  ))
    expect(environment).toContain(name)
})

/** Variables by which a CI job is known. */
const isOfRunner = (name: string): boolean =>
  /^(GITHUB|GITLAB|TF|TEAMCITY|BUILDKITE|AGENT|SYSTEM|BUILD)_/.test(name)

const place = temporaryFolder('mergeq help ')

test('the manifest lists the manual page: npm installs no page that is not in a list', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8')).man).toEqual(['./man/mergeq.1'])
})

testWith('mandoc')('the manual page is right roff', () => {
  const warnings = (() => {
    try {
      return execFileSync('mandoc', ['-T', 'lint', 'man/mergeq.1'], { encoding: 'utf8' })
    } catch (error) {
      return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
    }
  })()
  // The date is left out, so that the page changes only when what it says does.
  expect(warnings.split('\n').filter(line => line !== '' && !line.includes('missing date'))).toEqual([])
  const shown = execFileSync('mandoc', ['-T', 'ascii', 'man/mergeq.1'], { encoding: 'utf8' }).replace(
    /.\u0008/g,
    '',
  )
  for (const { command } of commandDocs) expect(shown).toContain(`mergeq ${command} [flags]`)
})

describe('examples that store something', () => {
  testWith('bash').each(examples.filter(({ command }) => storingCommands.test(command)))(
    '$line exits with $exit',
    async ({ line, exit, command }) => {
      const story = await openStory()
      try {
        const home = mkdtempSync(join(place, 'home '))
        writeFileSync(join(home, 'mergeq'), `#!/bin/sh\nexec '${process.execPath}' '${launcher}' "$@"\n`, {
          mode: 0o755,
        })
        writeFileSync(join(home, 'pbcopy'), '#!/bin/sh\ncat > /dev/null\n', { mode: 0o755 })
        const { MERGEQ_BASE_URL = '' } = story.env
        const env = {
          ...bareEnvironment(home),
          PATH: `${home}:${process.env.PATH}`,
          MERGEQ_BASE_URL,
          TOKEN: 'sandbox',
          MERGEQ_REPO: 'acme/web',
          MERGEQ_TARGET_BRANCH: 'main',
          ...(command === 'auth token' || command === 'guard' ? { MERGEQ_TOKEN: 'sandbox' } : {}),
        }
        const { execa } = await import('execa')
        if (command === 'guard') {
          const make =
            'git init -q && git init -q --bare there && git remote add origin ./there && git config push.default current && git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m first'
          await execa('sh', ['-c', make], { env, extendEnv: false, cwd: home })
        }
        const asks = line === 'mergeq auth login'
        const { exitCode, stderr } = await execa(
          'bash',
          ['-o', 'pipefail', '-c', asks ? `printf sandbox | ${line} --with-token` : line],
          { env, extendEnv: false, cwd: home, reject: false },
        )
        expect(exitCode, stderr).toBe(exit)
      } finally {
        await story.close()
      }
    },
  )
})
