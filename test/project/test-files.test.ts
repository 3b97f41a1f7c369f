import { existsSync, readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
// @ts-expect-error: it has no types.
import { commandOf } from '../../scripts/tally.mjs'
import { randomSeed } from '../support/random-seed.ts'
import { projectTest } from '../support/sample.ts'

projectTest('the slow files that vitest.config.ts starts first exist', () => {
  const [, list = ''] = readFileSync('vitest.config.ts', 'utf8').split('const slowFiles = [')
  const files = [...(list.split(']')[0] ?? '').matchAll(/'(.+)'/g)].map(([, name]) => `test/${name}.test.ts`)
  expect(files.length).toBeGreaterThan(5)
  expect(files.filter(file => !existsSync(file))).toEqual([])
})

test('random tests have the same cases in each run, and the last lines of a run repeat one that failed', () => {
  expect(fc.readConfigureGlobal().seed).toBe(randomSeed)
  const numbers = () => fc.assert(fc.property(fc.nat(), number => number < 5))
  expect(numbers).toThrow(`{ seed: ${randomSeed}, path: `)
  const message = `Property failed after 3 tests\n{ seed: ${randomSeed}, path: "2:1", endOnFailure: true }`
  const failed = [{ fullName: 'numbers > are small', result: () => ({ errors: [{ message }] }) }]
  const module = {
    relativeModuleId: 'test/a.test.ts',
    errors: () => [],
    children: { allTests: () => failed },
  }
  const amounts = Object.entries(process.env).flatMap(([name, value]) =>
    /^MERGEQ_RANDOM_(?!SEED)/.test(name) ? `${name}=${value} ` : [],
  )
  expect(commandOf(module)).toBe(
    `MERGEQ_RANDOM_SEED=${randomSeed} ${amounts.join('')}npx vitest run test/a.test.ts -t 'numbers are small'`,
  )
})

projectTest('no test draws random numbers of its own', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  const text = (name: string) => readFileSync(`test/${name}`, 'utf8')
  expect(files.filter(name => /Math\.random|Date\.now\(\) %/.test(text(name)))).toEqual([])
})
