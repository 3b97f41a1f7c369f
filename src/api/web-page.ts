/** Whether a text is a web page: from a captive portal or a proxy, not from the service. */
export const isWebPage = (text: string): boolean =>
  /^\uFEFF?\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)
