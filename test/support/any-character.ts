import fc from 'fast-check'

/**
 * Any character, control characters and unassigned ones included. fast-check's own unit `binary` is the same, but
 * takes a second of computing to make.
 */
export const anyCharacter = fc
  .oneof(fc.nat(0x7f), fc.nat(0xffff), fc.nat(0x10ffff))
  .filter(code => code < 0xd800 || code > 0xdfff)
  .map(code => String.fromCodePoint(code))
