const escaped = (text: string) => text.replace(/[&<>"\t\n\r]/g, character => `&#${character.charCodeAt(0)};`)

/** A file with these failed tests, each `class name`, `name`, `file`. */
export const junit = (...tests: readonly (readonly [classname: string, name: string, file?: string])[]) =>
  `<testsuites><testsuite name="Cart">${tests
    .map(
      ([classname, name, file]) =>
        `<testcase classname="${escaped(classname)}" name="${escaped(name)}"${file === undefined ? '' : ` file="${escaped(file)}"`}><failure/></testcase>`,
    )
    .join('')}<testcase classname="a" name="passes"/></testsuite></testsuites>`
