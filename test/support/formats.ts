import { formats } from '../../src/domain/output-formats.ts'

/** The option of each output format, and no option. */
export const formatFlags: readonly string[] = ['', ...formats.map(format => `-o ${format}`)]
