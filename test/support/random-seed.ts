import fc from 'fast-check'

/** All random tests have the same cases in each run; `npm run attack` gives them others. */
export const randomSeed = Number(process.env.MERGEQ_RANDOM_SEED ?? 602494676)

fc.configureGlobal({ seed: randomSeed })
