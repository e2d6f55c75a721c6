import CCrypto
import Glibc

/// The pages of an encrypted file, deciphered when they are read.
///
/// In front of each 64 pages there is one with an entry for each: initialization vector and
/// authentication code of the last write, and of the one before. A writer that was stopped between
/// entry and page has left the page of the one before. A page without an entry was never written,
/// and nothing refers to it.
struct EncryptedPages: PageSource {
  private static let pageSize = FileBytes.pageSize
  private static let pagesPerBlock = 64
  private static let entrySize = 64
  private static let codeSize = 28
  static let keySize = 64

  let byteCount: Int
  private let file: FileDescriptor
  private let cipherKey: [UInt8]
  private let codeKey: [UInt8]

  init(_ file: FileDescriptor, key: [UInt8]) throws(RealmFileError) {
    guard key.count == Self.keySize else {
      throw RealmFileError(
        .wrongKey, "the key must have \(Self.keySize) bytes, and this one has \(key.count)")
    }
    let pages = file.byteCount / Self.pageSize
    guard file.byteCount % Self.pageSize == 0, pages >= 2 else {
      throw .damaged("an encrypted file consists of two or more pages of 4096 bytes")
    }
    self.file = file
    cipherKey = Array(key[..<32])
    codeKey = Array(key[32...])
    byteCount = (pages - (pages + Self.pagesPerBlock) / (Self.pagesPerBlock + 1)) * Self.pageSize
  }

  func fill(
    page: Int, of memory: UnsafeMutableRawBufferPointer
  ) throws(RealmFileError) -> Range<Int> {
    let (block, number) = page.quotientAndRemainder(dividingBy: Self.pagesPerBlock)
    let offset = page * Self.pageSize
    let entry = try bytes(
      at: block * (Self.pagesPerBlock + 1) * Self.pageSize + number * Self.entrySize,
      count: Self.entrySize)
    let stored = try bytes(at: offset + (block + 1) * Self.pageSize, count: Self.pageSize)
    guard let vector = try vector(entry, stored, page) else {
      throw .damaged("a page that was never written is referred to", at: offset)
    }
    let plain = try decipher(stored, vector, offset)
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset..<offset + Self.pageSize])
      .copyBytes(from: plain)
    return page..<page + 1
  }

  private func bytes(at offset: Int, count: Int) throws(RealmFileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var failure: RealmFileError?
    unsafe bytes.withUnsafeMutableBytes { memory in
      do throws(RealmFileError) {
        unsafe try file.read(at: offset, into: memory)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// The initialization vector with which the page was written; nil if it never was.
  private func vector(
    _ entry: [UInt8], _ stored: [UInt8], _ page: Int
  ) throws(RealmFileError) -> ArraySlice<UInt8>? {
    let half = Self.entrySize / 2
    if entry[..<4].allSatisfy({ $0 == 0 }) { return nil }
    let code = authenticationCode(of: stored)
    for start in [0, half] where !entry[start..<start + 4].allSatisfy({ $0 == 0 }) {
      if entry[start + 4..<start + 4 + Self.codeSize].elementsEqual(code) {
        return entry[start..<start + 4]
      }
    }
    if stored.allSatisfy({ $0 == 0 }) { return nil }
    guard page > 0 else { throw Self.wrongKey }
    throw .damaged(
      "the authentication code of a page is not that of its bytes", at: page * Self.pageSize)
  }

  static let wrongKey = RealmFileError(.wrongKey, "the key is not that of the file")

  private func authenticationCode(of stored: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: UInt32 = 0
    _ = unsafe HMAC(
      EVP_sha224(), codeKey, Int32(codeKey.count), stored, stored.count, &code, &length)
    return Array(code.prefix(Int(length)))
  }

  private func decipher(
    _ stored: [UInt8], _ vector: ArraySlice<UInt8>, _ offset: Int
  ) throws(RealmFileError) -> [UInt8] {
    var whole = [UInt8](vector)
    for shift in 0..<8 { whole.append(UInt8(truncatingIfNeeded: offset >> (8 * shift))) }
    whole += [0, 0, 0, 0]
    var plain = [UInt8](repeating: 0, count: stored.count + 32)
    var count: Int32 = 0
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Self.failure }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    guard unsafe EVP_DecryptInit_ex(context, EVP_aes_256_cbc(), nil, cipherKey, whole) == 1,
      unsafe EVP_CIPHER_CTX_set_padding(context, 0) == 1,
      unsafe EVP_DecryptUpdate(context, &plain, &count, stored, Int32(stored.count)) == 1,
      Int(count) == stored.count
    else { throw Self.failure }
    return Array(plain.prefix(stored.count))
  }

  private static let failure = RealmFileError(.unreadable, "libcrypto does not decipher a page")
}
