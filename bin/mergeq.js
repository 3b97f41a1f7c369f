#!/usr/bin/env node
'use strict'
// Starts mergeq from the modules in dist/.
const { writeSync } = require('node:fs')

const { argv } = process

/**
 * Prints the version. A reader that has closed the pipe is not an error; any other failed write exits with
 * 16.
 */
function printVersion() {
  try {
    writeSync(1, `${require('../package.json').version}\n`)
  } catch (error) {
    if (error.code === 'EPIPE' || error.code === 'EBADF') return
    process.exitCode = 16
    process.stderr.write(
      `mergeq: Standard output could not be written: ${error.message}.\n  Check the output file and the free disk space.\n`,
    )
  }
}

if (argv.length === 3 && argv[2] === '--version') printVersion()
else {
  const { load, saveCache } = require('./code-cache.js')
  load('mergeq.cjs').main()
  process.on('exit', saveCache)
}
