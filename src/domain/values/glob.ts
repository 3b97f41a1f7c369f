import { textParser } from './text.ts'

/**
 * Parses a glob, as an expression that matches whole texts: in a path, `*` and `?` do not match a slash; `**`
 * matches everything. Throws a usage error for an empty text and for invisible characters.
 */
export function parseGlob(word: string, isPath: boolean): RegExp {
  const anyCharacter = isPath ? '[^/]' : '[^]'
  const pattern = textParser('pattern')(word).replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, piece =>
    piece.startsWith('**')
      ? '[^]*'
      : piece === '*'
        ? `${anyCharacter}*`
        : piece === '?'
          ? anyCharacter
          : `\\${piece}`,
  )
  return new RegExp(`^${pattern}$`, 'u')
}
