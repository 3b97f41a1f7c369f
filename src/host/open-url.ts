import { delimiter } from 'node:path'
import { absoluteEntries, readVariable } from './find-program.ts'

/**
 * Opens a URL in the browser of this machine. Rejects when the program that opens it cannot be started, or
 * ends with an error at once.
 */
export async function openUrl(url: string): Promise<void> {
  const { default: open } = await import('open')
  // The programs that open a URL are looked up on PATH.
  const path = readVariable('PATH', process.env, process.platform)
  if (path !== undefined) process.env.PATH = absoluteEntries(path, process.platform).join(delimiter)
  const child = await open(url)
  await new Promise<void>((resolve, reject) => {
    // A browser that is still running after this time was started.
    const timer = setTimeout(resolve, 1_000)
    child.once('error', reject)
    child.once('exit', code => {
      clearTimeout(timer)
      if (code === 0 || code === null) resolve()
      else reject(new Error(`the browser ended with exit code ${code}`))
    })
  })
}
