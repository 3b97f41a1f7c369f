import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { blocksOf, documents, linesOf, transcriptsOf } from '../support/code-blocks.ts'
import { specialRuns } from '../support/documentation.ts'
import { notRunnable } from '../support/documentation-runs.ts'

const filesBelow = (directory: string, ending: RegExp): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => `${directory}/${name.replaceAll('\\', '/')}`)
    .filter(path => ending.test(path))

/** Every file with links for people: all Markdown, and the forms for issues. */
const pagesWithLinks = [
  ...readdirSync('.').filter(name => name.endsWith('.md')),
  ...filesBelow('docs', /\.md$/),
  ...filesBelow('.github', /\.(?:md|yml)$/),
]

/** The address of a file of the project on its page. */
const filePage = `${manifest.repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`

describe('all documents', () => {
  const idOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-')

  test.each(pagesWithLinks)('%s: its links resolve', path => {
    const text = readFileSync(path, 'utf8')
    const relative = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target)
    const absolute = text.split(filePage).slice(1)
    for (const target of [...relative, ...absolute.map(rest => `/${/^[\w./#-]*\w/.exec(rest)}`)]) {
      const [file = '', anchor] = target.split('#')
      const from = file.startsWith('/') ? '.' : dirname(path)
      const to = file === '' ? path : normalize(join(from, file))
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
