import { expect } from 'vitest'
import { closeAfterTests } from './close-after-tests.ts'
import type { ExpectedResult } from './command-checks.ts'

export const closeLater = closeAfterTests()

export const id = '2b4e8d1c-93f0-4c57-8a3b-1f2e3d4c5b6a'
export const aTest = (name: string, index = 0) => ({
  id: `${id.slice(0, -4)}${String(index).padStart(4, '0')}`,
  name,
  status: { value: 'broken' },
  failure_rate_last_7d: 0.5,
})

/** Text that does something to a terminal, or hides something in it, by what it does. */
export const terminalText: Readonly<Record<string, string>> = {
  'a colour': '\x1B[31m',
  'a colour with C1': '\x9B31m',
  'a clear screen': '\x1B[2J\x1B[H',
  'cursor moves': '\x1B[3A\x1B[5C\x1B[1;1H\x1B7\x1B8',
  'a title': '\x1B]0;pwned\x07',
  'a title with C1': '\x9D0;pwned\x9C',
  'a clipboard (OSC 52)': '\x1B]52;c;cHduZWQ=\x07',
  'a link (OSC 8)': '\x1B]8;;http://evil.test\x1B\\here\x1B]8;;\x1B\\',
  'a device control string': '\x1BP$qm\x1B\\',
  'an application command': '\x1B_Gi=1;AAAA\x1B\\',
  'a privacy message': '\x1B^pwned\x1B\\',
  'the alternate screen': '\x1B[?1049h',
  'a hidden cursor': '\x1B[?25l',
  'bracketed paste and mouse': '\x1B[?2004h\x1B[?1000h',
  queries: '\x1B[c\x1B[6n\x1B]10;?\x07\x1B[>q\x05',
  'a reset': '\x1Bc\x1B[!p',
  'another character set': '\x1B(0\x0E',
  'an escape in an escape': '\x1B\x1B[0m[31m\x1B\x1B]0;x\x07]0;y\x07',
  'a bare escape': '\x1B\x07',
  'carriage returns': 'real\rfake',
  backspaces: 'real\b\b\b\bfake',
  'a bell and a NUL': '\x07\0',
  'vertical moves': '\v\f',
  'a delete': '\x7F',
  'C1 controls': '\x80\x84\x85\x8D\x99\x9C',
  'a bidirectional override': '\u202Egnp.\u202C',
  'bidirectional isolates and marks': '\u2066\u2067\u2068\u2069\u200E\u200F\u061C',
  'zero-width characters': '\u200B\u2060\uFEFF\u00AD',
  'tag characters': '\u{E0001}\u{E0041}\u{E007F}',
  'line and paragraph separators': '\u2028\u2029',
  'private and unassigned characters': '\uE000\uFFFF\u{10FFFF}',
  'lone surrogates': '\uD800 \uDC00',
  annotations: '\uFFF9\uFFFA\uFFFB',
}

const invisible = /[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u
const joiner = /[\u200C\u200D]/g
export const colors = /\x1B\[[\d;]*m/g

/** Checks that text holds no invisible character but joiners (control characters: `checkGeneralRules`). */
export const expectPlainText = (text: string): void => {
  expect(
    text
      .replaceAll(colors, '')
      .replaceAll(joiner, '')
      .replaceAll(/[\t\r\n]/g, ''),
  ).not.toMatch(invisible)
}

export const formats: readonly (readonly [flags: string, promised: ExpectedResult, terminal: boolean])[] = [
  ['', { code: 0, format: 'tsv' }, false],
  ['--color always', { code: 0, format: 'table', colored: true }, true],
  ['-o table', { code: 0, format: 'table' }, false],
  ['-o csv', { code: 0, format: 'csv' }, false],
  ['-o markdown', { code: 0, format: 'markdown' }, false],
]
