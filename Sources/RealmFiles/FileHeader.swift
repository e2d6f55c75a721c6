/// The first 24 bytes of a file: where the newest version is.
struct FileHeader {
  static let byteCount = 24
  static let formats = 20...24
  private static let magic: UInt32 = 0x4244_2d54
  private static let cookie: UInt64 = 0x3034_1252_37e5_26c8

  let format: Int
  /// The array of the newest version; nil in a file without any.
  let top: Int?

  /// Whether the bytes begin as a file that is not encrypted does.
  static func isPlain(_ bytes: FileBytes) throws(RealmFileError) -> Bool {
    guard bytes.count >= byteCount else { return false }
    try bytes.prepare(0, byteCount)
    return bytes.load(16, as: UInt32.self) == magic
  }

  init(_ bytes: FileBytes) throws(RealmFileError) {
    try bytes.prepare(0, Self.byteCount)
    let slot = Int(bytes.load(23, as: UInt8.self) & 1)
    format = Int(bytes.load(20 + slot, as: UInt8.self))
    var top = bytes.load(8 * slot, as: UInt64.self)
    if slot == 0, top == .max {
      // Written in one go: the last bytes say where it is.
      let footer = bytes.count - 16
      guard footer >= Self.byteCount else {
        throw .damaged("the end of the file is missing", at: 0)
      }
      try bytes.prepare(footer, 16)
      guard bytes.load(footer + 8, as: UInt64.self) == Self.cookie else {
        throw .damaged("the end of the file is missing", at: footer)
      }
      top = bytes.load(footer, as: UInt64.self)
    }
    guard top <= UInt64(Int.max) else {
      throw .damaged("the newest version is behind the end of the file", at: 0)
    }
    self.top = top == 0 ? nil : Int(top)
    if top == 0, format == 0 { return }
    try Self.check(format)
    guard bytes.count % 8 == 0 else {
      throw .damaged("its size is not a multiple of 8 bytes: it was cut")
    }
  }

  private static func check(_ format: Int) throws(RealmFileError) {
    switch format {
    case formats: return
    case 2...11:
      throw RealmFileError(
        .tooOld,
        "the file has the format \(format), and formats from 20 on can be read: open a copy once "
          + "with a Realm SDK of the years 2020 to 2024, which upgrades it")
    case 25...:
      throw RealmFileError(
        .tooNew,
        "the file has the format \(format), and formats up to 24 can be read: write a copy with a "
          + "released Realm SDK, or import with a newer Tarn")
    default: throw .damaged("it has the format \(format), which no Realm SDK writes", at: 20)
    }
  }
}
