import type { Environment } from './host.ts'

/**
 * Returns environment variables as Windows reads them: their names are the same in upper and lower case. A
 * list of the variables has the names as they were written.
 */
export const windowsEnvironment = (env: Environment): Environment =>
  new Proxy(env, {
    get(variables, name) {
      if (typeof name !== 'string' || variables[name] !== undefined) return Reflect.get(variables, name)
      const upperCase = name.toUpperCase()
      const written = Object.keys(variables).find(key => key.toUpperCase() === upperCase)
      return written === undefined ? undefined : variables[written]
    },
  })
