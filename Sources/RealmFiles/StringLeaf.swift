/// Texts or binaries of some objects, or of some elements of a collection, in one of four forms.
struct StringLeaf: LeafReading {
  private enum Form {
    /// Cells of one size, whose last byte tells how much of it is unused.
    case short(RealmArray)
    /// One blob for all, and where each value ends in it.
    case medium(ends: RealmArray, blob: RealmArray, nulls: RealmArray)
    /// A blob for each.
    case big(RealmArray)
    /// Positions in a list of the distinct texts.
    case enumerated(RealmArray, [RealmValue])
  }

  /// The contents of a leaf.
  enum Use {
    /// Texts that end with a zero byte where they have a blob.
    case texts
    case binaries
    /// Strings that are read as bytes, for mixed values.
    case textsAsBytes
    /// Names: an array without width has empty ones.
    case names

    var hasTerminator: Bool { self != .binaries }
  }

  /// The number of values.
  let count: Int
  /// The size of its arrays in the file, without the blobs of single values.
  let byteCount: Int
  private let form: Form
  private let use: Use
  private let bytes: FileBytes

  /// - Parameter distinct: the distinct texts of the column, if it has such a list.
  init(
    _ array: RealmArray, _ use: Use, distinct: [RealmValue]? = nil
  ) throws(RealmFileError) {
    bytes = array.bytes
    self.use = use
    if array.isInner { throw array.damaged("a node of a tree is not a leaf") }
    if array.hasRefs, !array.hasContext {
      let ends = try RealmArray.numbers(bytes, array.ref(0))
      let blob = try RealmArray.blob(bytes, array.ref(1))
      let nulls = try RealmArray.numbers(bytes, array.ref(2))
      guard ends.count == nulls.count else { throw array.damaged("it has more ends than values") }
      byteCount = array.byteCount + ends.byteCount + blob.byteCount + nulls.byteCount
      (form, count) = (.medium(ends: ends, blob: blob, nulls: nulls), ends.count)
      return
    }
    byteCount = array.byteCount
    if array.hasRefs {
      (form, count) = (.big(array), array.count)
    } else if array.isCells, use != .binaries {
      (form, count) = (.short(array), array.count)
    } else if array.isNumbers, let distinct {
      (form, count) = (.enumerated(array, distinct), array.count)
    } else {
      throw array.damaged("a leaf has a form that texts do not have")
    }
  }

  @inline(__always)
  func value(_ index: Int) throws(RealmFileError) -> RealmValue {
    switch form {
    case .short(let cells): return try short(cells, index)
    case .medium(let ends, let blob, let nulls): return try medium(ends, blob, nulls, index)
    case .big(let refs): return try big(refs, index)
    case .enumerated(let numbers, let distinct):
      let number = try numbers.number(index)
      guard number >= 0, number < distinct.count else {
        throw numbers.damaged("there is no distinct text \(number)")
      }
      let text = distinct[Int(number)]
      // Many objects may have one long text.
      if case .string(let text) = text, text.utf8.count > 1024 {
        try bytes.charge(text.utf8.count, at: numbers.ref)
      }
      return text
    }
  }

  @inline(__always)
  private func short(_ cells: RealmArray, _ index: Int) throws(RealmFileError) -> RealmValue {
    let cell = try cells.cell(index)
    guard !cell.isEmpty else { return use == .names ? .string("") : .null }
    let unused = Int(bytes.load(cell.upperBound - 1, as: UInt8.self))
    if unused == cells.width { return .null }
    guard unused < cells.width else { throw cells.damaged("a text has a negative length") }
    let end = cell.upperBound - 1 - unused
    guard bytes.areZero(end..<cell.upperBound - 1) else {
      throw cells.damaged("there are bytes behind the end of a text")
    }
    return try value(cell.lowerBound..<end, cells)
  }

  private func medium(
    _ ends: RealmArray, _ blob: RealmArray, _ nulls: RealmArray, _ index: Int
  ) throws(RealmFileError) -> RealmValue {
    let end = try ends.number(index)
    let start = index == 0 ? 0 : try ends.number(index - 1)
    guard start >= 0, start <= end, end <= blob.count else {
      throw ends.damaged("the end of a value is outside of its bytes")
    }
    let isNull = try nulls.number(index)
    guard isNull == 0 || isNull == 1 else {
      throw nulls.damaged("an element is neither null nor a value")
    }
    if isNull == 1 { return .null }
    return try value(blob, Int(start)..<Int(end))
  }

  private func big(_ refs: RealmArray, _ index: Int) throws(RealmFileError) -> RealmValue {
    guard let ref = try slotRef(refs, index) else { return .null }
    let array = try RealmArray(bytes, ref)
    try bytes.charge(array.byteCount, at: ref)
    if array.hasRefs, array.hasContext, use == .binaries {
      return .binary(try joined(array))
    }
    guard array.isBlob else { throw array.damaged("an array does not have bytes") }
    return try value(array, 0..<array.count)
  }

  private func slotRef(_ refs: RealmArray, _ index: Int) throws(RealmFileError) -> Int? {
    guard index >= 0, index < refs.count else { throw refs.damaged("there is no value \(index)") }
    return try refs.optionalRef(index)
  }

  /// A binary in several blobs.
  private func joined(_ parts: RealmArray) throws(RealmFileError) -> [UInt8] {
    var all: [UInt8] = []
    for index in 0..<parts.count {
      let blob = try RealmArray.blob(bytes, parts.ref(index))
      try bytes.charge(blob.byteCount, at: blob.ref)
      all += bytes.array(blob.payload..<blob.payload + blob.count)
    }
    return all
  }

  /// A value of a blob, without the zero byte that ends it.
  private func value(
    _ blob: RealmArray, _ range: Range<Int>
  ) throws(RealmFileError) -> RealmValue {
    let start = blob.payload + range.lowerBound
    var end = blob.payload + range.upperBound
    if use.hasTerminator {
      guard end > start, bytes.load(end - 1, as: UInt8.self) == 0 else {
        throw blob.damaged("a text does not end with a zero byte")
      }
      end -= 1
    }
    return try value(start..<end, blob)
  }

  @inline(__always)
  private func value(
    _ range: Range<Int>, _ array: RealmArray
  ) throws(RealmFileError) -> RealmValue {
    switch use {
    case .binaries, .textsAsBytes: return .binary(bytes.array(range))
    case .texts, .names:
      guard let text = bytes.text(range) else { throw array.damaged("a text is not UTF-8") }
      return .string(text)
    }
  }

  /// All values as strings; nil for null.
  static func names(_ array: RealmArray) throws(RealmFileError) -> [String?] {
    let leaf = try StringLeaf(array, .names)
    var names: [String?] = []
    for index in 0..<leaf.count {
      if case .string(let name) = try leaf.value(index) {
        names.append(name)
      } else {
        names.append(nil)
      }
    }
    return names
  }
}
