import { limitInput, maxPagesInput, pageSizeInput, pageTokenInput } from '../../../cli/common-inputs.ts'
import { negatableFlag, option } from '../../../cli/inputs.ts'
import { parseGlob, textParser } from '../../../domain/values/text.ts'

export const testFilterInputs = {
  owner: option({
    name: 'owner',
    value: 'name',
    summary: 'Only tests of this code owner',
    parse: textParser('owner'),
  }),
  name: option({
    name: 'name',
    value: 'glob',
    summary: 'Only tests whose name matches this pattern',
    parse: word => parseGlob(word, false),
  }),
  path: option({
    name: 'path',
    value: 'glob',
    summary: 'Only tests whose file path matches this pattern',
    parse: word => parseGlob(word, true),
  }),
}

export const quarantinedInput = negatableFlag({
  name: 'quarantined',
  summary: 'Only quarantined tests',
  opposite: 'Only tests that are not quarantined',
})

export const testPageInputs = {
  limit: limitInput('tests'),
  pageSize: pageSizeInput('Tests'),
  pageToken: pageTokenInput,
  maxPages: maxPagesInput,
}
