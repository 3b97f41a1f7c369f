import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import renovate from '../../.github/renovate.json' with { type: 'json' }
import manifest from '../../package.json' with { type: 'json' }

const dependencies: Readonly<Record<string, string>> = manifest.devDependencies
const page = readFileSync('docs/decisions/0009-node-20.md', 'utf8')
const rows = [...page.matchAll(/^\| ([\w@/-]+) \| ([\d.]+) \| (\d+)[\d.]* \| /gm)].map(
  ([, name = '', here = '', newest = '']) => ({ name, here, newest: Number(newest) }),
)

test('the table of what Node 20 holds back has the versions of package.json', () => {
  expect(rows.length).toBeGreaterThan(6)
  for (const { name, here, newest } of rows) {
    expect({ name, here }).toEqual({ name, here: dependencies[name] })
    expect(newest).toBeGreaterThan(Number.parseInt(here, 10))
  }
  const [rule] = renovate.packageRules.filter(({ enabled }) => enabled === false)
  expect(rule?.matchPackageNames).toEqual(rows.map(({ name }) => name).toSorted())
})

test('the rules for updates name only packages that are used', () => {
  const named = renovate.packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames)
  expect([...Object.keys(dependencies), '@types/**']).toEqual(expect.arrayContaining(named))
})

test('every dependency has an exact version, from no address of its own', () => {
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
  expect(readFileSync('package-lock.json', 'utf8')).not.toContain('"resolved"')
})

test('the oldest Node is the same for users and for the action', () => {
  const { node } = manifest.engines
  expect(readFileSync('action.yml', 'utf8')).toContain(`Node ${node.replace('>=', '')} or newer`)
  expect(page).toContain(`Node ${node.replace('>=', '')} and later`)
})

test('the modules of undici that are imported are still where they are imported from', () => {
  const load = createRequire(import.meta.url)
  const undici = load('undici')
  const parts: Readonly<Record<string, unknown>> = {
    'undici/lib/api/api-connect.js': undici.Dispatcher.prototype.connect,
    'undici/lib/api/api-request.js': undici.Dispatcher.prototype.request,
    'undici/lib/core/connect.js': undici.buildConnector,
    'undici/lib/dispatcher/agent.js': undici.Agent,
    'undici/lib/dispatcher/pool.js': undici.Pool,
    'undici/lib/dispatcher/proxy-agent.js': undici.ProxyAgent,
  }
  const imported = readFileSync('src/http/undici.ts', 'utf8').match(/(?<= from ')undici\/[^']+/g)
  expect(imported).toEqual(Object.keys(parts))
  for (const [path, part] of Object.entries(parts)) {
    expect(part, path).toBeTypeOf('function')
    expect(load(path), path).toBe(part)
  }
})
