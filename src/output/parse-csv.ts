/** Reads CSV with a header as one object for each row, by the names of the header. */
export async function parseCsv(text: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const { default: papa } = await import('papaparse')
  return papa.parse<Record<string, string>>(text.trim(), { header: true, delimiter: ',' }).data
}
