/// How a column will look in the image of some rows: its form and its size.
struct ColumnPlan {
  var kind = ClusterColumnKind.absent
  /// As in the descriptor: bytes of a packed number or of a fixed value.
  var width = 0
  var base: Int64 = 0
  var hasNulls = false
  /// Some values are long: a bitmap says which.
  var hasLong = false
  /// Of a date: bytes of nanoseconds a row, and what is subtracted from them.
  var fineWidth = 0
  var fineBase: Int32 = 0
  /// Of a dictionary.
  var entryCount = 0
  /// Bytes of the strings, or of a dictionary's entries.
  var byteCount = 0
  /// The column's parts are copied from the image that the cluster was made from.
  var isCopied = false
  /// Bytes of all parts, without the descriptor.
  var size = 0
}

/// Memory that encoding needs and that is worth keeping from one image to the next.
@safe struct EncodingScratch {
  /// A plan a column.
  private(set) var plans: UnsafeMutablePointer<ColumnPlan>!
  /// The image being written, at most `imageBytesMax` long.
  private(set) var output: UnsafeMutableRawPointer!
  /// Hash table of dictionary entries: the entry's number plus one, or zero.
  private(set) var table: UnsafeMutablePointer<UInt8>!

  static let tableCount = 512

  mutating func prepare(columnCount: Int) {
    guard unsafe plans == nil else { return }
    unsafe plans = UnsafeMutablePointer<ColumnPlan>.allocate(capacity: columnCount)
    unsafe plans.initialize(repeating: ColumnPlan(), count: columnCount)
    unsafe output = UnsafeMutableRawPointer.allocate(
      byteCount: ClusterFormat.imageBytesMax, alignment: 16)
    unsafe table = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.tableCount)
  }

  func deallocate() {
    unsafe plans?.deallocate()
    unsafe output?.deallocate()
    unsafe table?.deallocate()
  }
}
