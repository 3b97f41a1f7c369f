import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf, linesOf } from '../support/code-blocks.ts'
import { mergeq, type Setting } from '../support/harness.ts'
import { testOnPosix } from '../support/programs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { token } from '../support/tokens.ts'

const guide = 'docs/tokens.md'
const place = temporaryFolder('mergeq-token-guide-')
const printed = `printf %s '${token}'`

/** Programs that print the token as those of these names do, and other things if they are called in another way. */
const programs: Readonly<Record<string, string>> = {
  // Without -w, it prints the attributes of the item.
  security: `[ "$1" = find-generic-password ] || exit 2; shift
    while getopts a:s:w flag; do case $flag in s) service=$OPTARG ;; w) only=yes ;; a) ;; *) exit 2 ;; esac; done
    [ "$service" = mergeq ] || exit 44
    [ "$only" = yes ] && echo '${token}' || echo 'keychain: "login.keychain-db"'`,
  'secret-tool': `[ "$1" = lookup ] && [ "$2 $3" = 'service mergeq' ] || exit 1; ${printed}`,
  // What follows the first line is of no interest.
  pass: `[ "$1" = show ] || exit 1
    case $2 in 'work/mergeq' | 'work/merge queue') echo '${token}'; echo 'user: ada' ;; *) exit 1 ;; esac`,
  op: `[ "$1" = read ] || exit 1; case $2 in op://team/mergeq/token) echo '${token}' ;; *) exit 1 ;; esac`,
  // Without -field, it prints a table.
  vault: `[ "$1 $2" = 'kv get' ] || exit 1; shift 2
    for word; do case $word in -mount=secret) mount=yes ;; -field=token) field=yes ;; *) path=$word ;; esac; done
    [ "$mount $path" = 'yes mergeq' ] || exit 2
    [ "$field" = yes ] && ${printed} || echo '====== Data ======'`,
  curl: `for word; do url=$word; done; [ "$url" = https://secrets.acme.example/mergeq ] && ${printed}`,
}
for (const [name, script] of Object.entries(programs))
  writeFileSync(join(place, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
for (const { language, text } of blocksOf(guide))
  if (language === 'bash') writeFileSync(join(place, 'acme-token'), text, { mode: 0o755 })

/** Starts one of these programs, which a company would install elsewhere. */
const spawn: Setting['spawn'] = (program, args) => {
  const path = join(place, program.replace('/usr/local/bin/', ''))
  const { status, stdout } = spawnSync(path, args, {
    env: { PATH: `${place}:/usr/bin:/bin` },
    encoding: 'utf8',
  })
  return { code: status ?? 127, out: stdout ?? '' }
}

const lines = blocksOf(guide)
  .filter(({ language }) => language === 'sh')
  .flatMap(linesOf)
  .filter(line => line.includes('token-command'))

test('the guide has a line for each program', () => {
  for (const name of ['security', 'secret-tool', 'pass', 'op', 'vault', '/usr/local/bin/acme-token'])
    expect(lines.join('\n')).toMatch(new RegExp(`token-command '?${name}\\b`))
})

testOnPosix.each(lines)('%s: its token is used', async line => {
  const HOME = mkdtempSync(join(place, 'home-'))
  const env = { HOME, MERGEQ_TOKEN: undefined, MERGEQ_BASE_URL: undefined }
  const setting = { env, spawn, realFiles: true }
  const set = await mergeq(line.replace(/^mergeq /, ''), setting)
  expect(set).toMatchObject({ code: 0, err: '' })
  expect(await mergeq('auth token', setting)).toMatchObject({ code: 0, out: `${token}\n` })
})
