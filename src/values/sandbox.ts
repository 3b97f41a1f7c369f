import { usageError } from '../base/errors.ts'
import { maxPullRequestNumber } from './pull-request.ts'
import { parseRepository } from './repository.ts'
import { scenarioNames } from './scenario-names.ts'
import { branchParser } from './text.ts'
import { choice, integer, listOf, parseDecimal, textual } from './types.ts'

const speedFactor = textual({
  expected: 'a number greater than 0',
  placeholder: 'x',
  declaration: 'number',
  accepts: 'number',
  parse(word) {
    const number = parseDecimal(word)
    if (number <= 0) throw usageError(`'${word}' is not a number greater than 0.`, 'For example: 20')
    return number
  },
})

const queueName = textual({
  expected: '<repo>:<branch>',
  placeholder: 'repo:branch',
  parse(word) {
    const colon = word.lastIndexOf(':')
    if (colon < 1) throw usageError(`'${word}' is not <repo>:<branch>.`, 'For example: acme/web:release')
    return {
      repo: parseRepository(word.slice(0, colon)),
      targetBranch: branchParser('branch')(word.slice(colon + 1)),
    }
  },
})

/** What the command line and programs can choose about a sandbox. */
export const sandboxTypes = {
  scenario: choice(scenarioNames, 'name'),
  dialect: choice(['both', 'hosted', 'document'], 'name'),
  speed: speedFactor,
  seed: integer(0),
  queues: listOf(queueName),
  unknown: listOf(integer(1, maxPullRequestNumber)),
  closed: listOf(integer(1, maxPullRequestNumber)),
}
