import { readdirSync, readFileSync } from 'node:fs'

const escaped = (text: string) => text.replace(/[&<>"\t\n\r]/g, character => `&#${character.charCodeAt(0)};`)

/** A file with these failed tests, each `class name`, `name`, `file`. */
export const junit = (...tests: readonly (readonly [classname: string, name: string, file?: string])[]) =>
  `<testsuites><testsuite name="Cart">${tests
    .map(
      ([classname, name, file]) =>
        `<testcase classname="${escaped(classname)}" name="${escaped(name)}"${file === undefined ? '' : ` file="${escaped(file)}"`}><failure/></testcase>`,
    )
    .join('')}<testcase classname="a" name="passes"/></testsuite></testsuites>`

const folder = new URL('../fixtures/junit/', import.meta.url)

/** Reports as test tools write them, by the name of the file. */
export const reports: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')]),
)

/** How many tests failed in each report, counted by hand. */
export const failureCounts: Readonly<Record<string, number>> = {
  // Warnings are failures.
  'codeception.xml': 3,
  // A test without its executable did not run, though the report calls it skipped.
  'ctest.xml': 2,
  'dotnet.xml': 2,
  'ginkgo.xml': 2,
  // A test with two failures.
  'googletest.xml': 1,
  'gotestsum.xml': 3,
  'gradle.xml': 1,
  // The totals count attempts: 4 failures.
  'gradle-reruns.xml': 2,
  'jest.xml': 3,
  'mocha.xml': 3,
  'node.xml': 4,
  'phpunit.xml': 2,
  'playwright.xml': 2,
  'pytest.xml': 3,
  'rspec.xml': 2,
  'surefire.xml': 2,
  'surefire-flaky.xml': 0,
  // The totals count attempts: 7 failures and errors.
  'surefire-reruns.xml': 2,
  // Errors and failures are the same tests.
  'testcafe.xml': 2,
  'vitest.xml': 3,
  'web-test-runner.xml': 2,
}
