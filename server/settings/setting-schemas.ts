/** What the values of settings look like in the environment. */
import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import Joi from 'joi'

/** Texts between a separator, trimmed; empty ones are left out. */
export const list = (separator: string) =>
  Joi.string()
    .allow('')
    .custom((value: string) =>
      value
        .split(separator)
        .map(part => part.trim())
        .filter(Boolean),
    )

function isCidr(text: string): boolean {
  const [address = '', bits = ''] = text.split('/')
  const widest = { 4: 32, 6: 128 }[isIP(address)] ?? -1
  return /^\d{1,3}$/.test(bits) && Number(bits) <= widest
}

export const cidrs = list(',').custom((value: string[], helpers) => {
  const bad = value.find(cidr => !isCidr(cidr))
  return bad === undefined
    ? value
    : helpers.message({ custom: `{{#label}} holds ${bad}, which is not a CIDR such as 10.0.0.0/8` })
})

export const folders = list(':').custom((value: string[], helpers) => {
  const bad = value.find(folder => !statSync(folder, { throwIfNoEntry: false })?.isDirectory())
  return bad === undefined
    ? value
    : helpers.message({ custom: `{{#label}} names ${bad}, which is no folder: make it, or correct the path` })
})

export const delays = list(',').custom((value: string[], helpers) => {
  const seconds = value.map(Number)
  return seconds.length > 0 && seconds.every(second => Number.isFinite(second) && second >= 0)
    ? seconds
    : helpers.message({
        custom: '{{#label}} must be seconds of 0 or more separated by commas, such as 0,60,300,900,3600',
      })
})

export const ports = list(',').custom((value: string[], helpers) =>
  value.length > 0 &&
  value.every(port => /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
    ? value.map(Number)
    : helpers.message({
        custom: '{{#label}} must be ports of 1 to 65535 separated by commas, such as 443,8443',
      }),
)

/** 32 bytes in base64, or several, newest first. */
export const secretKey = Joi.string().custom((value: string, helpers) =>
  value.split(',').every(key => Buffer.from(key.trim(), 'base64').length === 32)
    ? value
    : helpers.message({
        custom:
          '{{#label}} must be 32 bytes in base64 (make one with: openssl rand -base64 32), or several separated by commas, newest first',
      }),
)

export const postgresUrl = Joi.string().uri({ scheme: ['postgres', 'postgresql'] })
