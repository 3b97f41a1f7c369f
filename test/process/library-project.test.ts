import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { beforeAll, expect, test } from 'vitest'
import { npmEnvironment, unpackPackage } from '../support/package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const place = temporaryFolder('mergeq-project-')
const env = npmEnvironment(place)
const run = (program: string, ...words: readonly string[]) =>
  execa(program, words, { cwd: place, env, extendEnv: false, reject: false, all: true })

/** The files of docs/testing.md, by their names. */
const files = Object.fromEntries(
  [...readFileSync('docs/testing.md', 'utf8').matchAll(/^```ts (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
)

beforeAll(async () => {
  writeFileSync(join(place, 'package.json'), '{"private":true,"type":"module"}')
  await unpackPackage(place)
  mkdirSync(join(place, 'node_modules/@types'))
  for (const name of ['vitest', 'undici-types', '@types/node'])
    symlinkSync(resolve('node_modules', name), join(place, 'node_modules', name))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text)
}, 60_000)

test('the bot of the guide is small, and compiles strictly with its test', async () => {
  expect(files['bot.ts']?.split('\n').length).toBeLessThanOrEqual(60)
  const options = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
  const resolution = ['--module', 'nodenext', '--target', 'es2023', '--types', 'node', '--skipLibCheck']
  const { exitCode, all } = await run(
    resolve('node_modules/.bin/tsc'),
    ...options,
    ...resolution,
    'bot.test.ts',
  )
  expect(exitCode, all).toBe(0)
})

test('its test passes in vitest', async () => {
  const { exitCode, all } = await run(process.execPath, resolve('node_modules/vitest/vitest.mjs'), 'run')
  expect(exitCode, all).toBe(0)
  expect(all).toMatch(/2 passed/)
}, 60_000)
