import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const index = readFileSync('docs/README.md', 'utf8')
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .map(name => name.replaceAll('\\', '/'))
  .filter(name => name.endsWith('.md') && name !== 'README.md')

test.each(pages)('docs/README.md links %s', page => expect(index).toContain(`](${page})`))

test.each(['../README.md', '../CONTRIBUTING.md', '../CHANGELOG.md', '../RELEASING.md', '../SECURITY.md'])(
  'docs/README.md links %s',
  page => expect(index).toContain(`](${page})`),
)
