export interface RequestFailure {
  /** As in `DeliveryOutcome`. */
  errorClass: string
  /** One sentence that a person can act on. It names the host, never the path, which may be a secret. */
  sentence: string
  /** Whether retrying cannot help: the address or the receiver has to be changed. */
  isLasting: boolean
}

type RequestError = Error & { code?: string; event?: string }

/** Causes of one class: the code and phase of an error, and the sentence, in which `{host}` and `{code}` are filled in. */
interface FailureRules {
  errorClass: string
  isLasting?: true
  causes: readonly (readonly [codeAndPhase: RegExp, sentence: string])[]
}

/** The first match counts. */
const FAILURE_RULES: readonly FailureRules[] = [
  { errorClass: 'egress_refused', isLasting: true, causes: [[/^ERR_EGRESS_BLOCKED\b/, '{message}']] },
  {
    errorClass: 'dns',
    causes: [
      [
        /^(ENOTFOUND|ENODATA|ENONAME|EBADNAME) /,
        'There is no host of the name {host}: check the spelling, and that the name is public',
      ],
      [
        /^(EAI_|ESERVFAIL|EREFUSED|ETIMEOUT|EFORMERR|EBADRESP)/,
        'The name {host} could not be looked up just now: check its name servers',
      ],
    ],
  },
  {
    errorClass: 'timeout',
    causes: [
      [/^ETIMEDOUT lookup$/, 'The name {host} was not looked up within 5 seconds: check its name servers'],
      [
        /^ETIMEDOUT connect$/,
        '{host} did not accept the connection within 5 seconds: check that it runs and that no firewall blocks it',
      ],
      [
        /^ETIMEDOUT secureConnect$/,
        '{host} did not agree on TLS within 5 seconds: check that it serves HTTPS on this port',
      ],
      [/^ETIMEDOUT send$/, '{host} did not read the message within 10 seconds: check that it reads requests'],
      [
        /^(ETIMEDOUT|ESOCKETTIMEDOUT) /,
        '{host} did not answer in time: a receiver should answer first and work afterwards',
      ],
    ],
  },
  {
    errorClass: 'tls',
    isLasting: true,
    causes: [
      [/^CERT_HAS_EXPIRED /, 'The certificate of {host} has expired: renew it'],
      [
        /^CERT_NOT_YET_VALID /,
        'The certificate of {host} is not valid yet: check its dates and the clock of both machines',
      ],
      [/^ERR_TLS_CERT_ALTNAME_/, 'The certificate of {host} is for another name: get one for this name'],
      [
        /^DEPTH_ZERO_SELF_SIGNED_CERT /,
        'The certificate of {host} is self-signed: get one from an authority, or have the operator trust it with NODE_EXTRA_CA_CERTS',
      ],
      [
        /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT|GET_ISSUER_CERT_LOCALLY|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED) /,
        'The certificate of {host} leads to no trusted authority: send the intermediate certificates too, or have the operator trust the authority with NODE_EXTRA_CA_CERTS',
      ],
      [
        /CERT|^UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED/,
        'The certificate of {host} is not valid ({code}): get a valid one',
      ],
      [
        /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL) /,
        '{host} does not use TLS: use the port of its HTTPS server',
      ],
    ],
  },
  {
    errorClass: 'tls',
    causes: [
      [
        /^(ERR_TLS|ERR_SSL|EPROTO )/,
        '{host} and this service could not agree on TLS ({code}): the receiver must support TLS 1.2 or newer',
      ],
    ],
  },
  {
    errorClass: 'protocol',
    causes: [
      [/^HPE_HEADER_OVERFLOW /, '{host} answered with more than 16 KiB of headers: send fewer'],
      [/^HPE_/, 'The answer of {host} is not HTTP ({code}): check the address'],
      [/^ /, '{host} closed the connection without an answer: check its log'],
    ],
  },
  {
    errorClass: 'connect',
    causes: [
      [/^ECONNREFUSED /, '{host} refuses connections: check the port, and that the receiver runs'],
      [
        /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN) /,
        '{host} cannot be reached from here: check the address and the network',
      ],
      [
        /^(ECONNRESET|EPIPE|ECONNABORTED|ERR_SOCKET_CLOSED.*) /,
        '{host} closed the connection before it answered: check its log',
      ],
      [/^E[A-Z]+ /, 'No connection to {host} could be made ({code}): check that it runs'],
    ],
  },
  {
    errorClass: 'other',
    causes: [[/^ERR_ABORTED /, 'The attempt was aborted before {host} answered, since this service stopped']],
  },
]

/** Classifies an error of the HTTP client or of a socket, whose own text may contain secrets. */
export function classifyFailure(error: RequestError, target: URL): RequestFailure {
  const { code = '', event = '', message } = error
  const values: Record<string, string> = { host: target.host, code, message }
  for (const { errorClass, isLasting = false, causes } of FAILURE_RULES)
    for (const [pattern, sentence] of causes)
      if (pattern.test(`${code} ${event}`))
        return {
          errorClass,
          isLasting,
          sentence: sentence.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!),
        }
  const sentence = `The request to ${target.host} ended before it was answered (${code})`
  return { errorClass: 'other', sentence, isLasting: false }
}
