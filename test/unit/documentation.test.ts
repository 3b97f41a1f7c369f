import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { blocksOf, documents, linesOf, transcriptsOf } from '../support/code-blocks.ts'
import { specialRuns } from '../support/documentation.ts'
import { notRunnable } from '../support/documentation-runs.ts'

describe('all documents', () => {
  const idOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')

  test.each(documents)('%s: its links resolve', path => {
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), file))
      expect({ target, exists: existsSync(to) }).toEqual({ target, exists: true })
      const headings = [...readFileSync(to, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
        idOf(heading),
      )
      if (anchor !== undefined) expect(headings).toContain(anchor)
    }
  })

  test.each(documents)('%s: no path of a machine, no host of a registry', path => {
    expect(readFileSync(path, 'utf8')).not.toMatch(/\/(?:home|root|work|Users)\/|registry\.[\w.-]+\.\w+/)
  })

  test('command lines listed as exceptions are still in the documents', () => {
    const lines = documents
      .flatMap(blocksOf)
      .flatMap(block => [...linesOf(block), ...transcriptsOf(block).map(([line]) => line)])
    for (const line of [...Object.keys(notRunnable), ...Object.keys(specialRuns)])
      expect(lines).toContain(line)
  })

  test('CONTRIBUTING.md names every directory of src/', () => {
    const map = readFileSync('CONTRIBUTING.md', 'utf8')
    for (const { name } of readdirSync('src', { withFileTypes: true })) expect(map).toContain(`\`src/${name}`)
  })

  test('every guide is linked in the README', () => {
    const readme = readFileSync('README.md', 'utf8')
    for (const path of documents.filter(one => one !== 'README.md'))
      expect({ path, linked: readme.includes(`](${path})`) }).toEqual({ path, linked: true })
  })
})
