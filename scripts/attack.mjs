// Runs the random tests again and again, each time with another seed: `npm run attack -- 30` for 30 minutes.
// Ends at the first failure, whose last lines have the command line that repeats it.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const minutes = Number(process.argv[2] ?? 30)
const amounts = {
  MERGEQ_RANDOM_ATTACKS: '2000',
  MERGEQ_RANDOM_WRITES: '10000',
}
const files = readdirSync('test', { recursive: true })
  .filter(name => name.endsWith('.test.ts'))
  .map(name => `test/${name}`)
  .filter(name => readFileSync(name, 'utf8').includes("from 'fast-check'"))

const runTests = (names, env) =>
  execFileSync(
    'npx',
    ['vitest', 'run', '--project', 'in-process', '--retry', '0', '--test-timeout', '3600000', ...names],
    { env: { ...process.env, ...env }, stdio: 'inherit' },
  )

// Long texts in every field, once: they are the same in each round. Sizes in KiB.
runTests(['test/every-command/hostile-texts.test.ts', '--testNamePattern', 'expensive'], {
  MERGEQ_TEXT_SIZES: '4,64,1024',
})

const end = Date.now() + minutes * 60_000
let rounds = 0
for (; Date.now() < end; rounds++) {
  const seed = String(Date.now() % 2 ** 31)
  console.log(`round ${rounds + 1}, seed ${seed}`)
  try {
    runTests(files, { ...amounts, MERGEQ_RANDOM_SEED: seed })
  } catch {
    console.log(`Failed in round ${rounds + 1}, with the seed ${seed}.`)
    process.exit(1)
  }
}
console.log(`${rounds} rounds in ${minutes} minutes: no failure.`)
console.log(
  `Of each round: ${Object.entries(amounts)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(' ')}`,
)
