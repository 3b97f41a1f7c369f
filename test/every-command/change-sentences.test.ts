import { describe, expect, test } from 'vitest'
import { changeSentence } from '../../src/api/change-sentence.ts'
import { isChange } from '../../src/api/operation.ts'
import { serviceOperations } from '../../src/api/operations/index.ts'

const changes = serviceOperations.filter(isChange)
const subject = {
  repo: { host: 'github.com', owner: 'acme', name: 'web' },
  targetBranch: 'release/2.4',
  pr: 7,
  testId: '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a',
  ticket: 'KAN-1',
}

describe.each(changes.map(operation => [operation.route, operation] as const))(
  'the sentence about %s',
  (_, operation) => {
    test.each(['before', 'after'] as const)('names its queue and repository (%s)', when => {
      const sentence = changeSentence(operation, subject, when)
      const place = 'targetBranch' in operation.params ? 'the queue for release/2.4 of acme/web' : 'acme/web'
      expect(sentence).toContain(place)
      if ('pr' in operation.params) expect(sentence).toContain('#7')
      expect(sentence).not.toMatch(/[{}]|undefined/)
    })

    test('says how a pull request was found that nobody named', () => {
      if (!('pr' in operation.params)) return
      expect(changeSentence(operation, { ...subject, guess: 'branch x' })).toContain('#7 (branch x)')
    })
  },
)
