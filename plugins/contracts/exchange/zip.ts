import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'

interface ZipFile {
  name: string
  content: Buffer
}

/** In a thread of its own. */
const deflate = promisify(deflateRaw)

const UTF8_FLAG = 0x0800
const DEFLATE = 8
/** 1980-01-01 as MS-DOS writes it: the same files give the same archive. */
const DATE = 0x0021

/** A zip archive of files, of which all together stay below 4 GiB. */
export async function writeZip(files: readonly ZipFile[]): Promise<Buffer> {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of files) {
    const path = Buffer.from(name)
    const packed = await deflate(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(UTF8_FLAG, 2)
    common.writeUInt16LE(DEFLATE, 4)
    common.writeUInt16LE(DATE, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(path.length, 22)
    const local = [Buffer.from('PK\x03\x04', 'latin1'), common, path, packed]
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, place, path)
    parts.push(...local)
    offset += local.reduce((length, part) => length + part.length, 0)
  }
  const size = directory.reduce((length, part) => length + part.length, 0)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(files.length, 4)
  end.writeUInt16LE(files.length, 6)
  end.writeUInt32LE(size, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06', 'latin1'), end])
}
