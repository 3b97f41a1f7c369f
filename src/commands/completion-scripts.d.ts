// The completion scripts, which the build takes in as texts.
declare module '*/_mergeq' {
  const script: string
  export default script
}
declare module '*.bash' {
  const script: string
  export default script
}
declare module '*.fish' {
  const script: string
  export default script
}
declare module '*.ps1' {
  const script: string
  export default script
}
