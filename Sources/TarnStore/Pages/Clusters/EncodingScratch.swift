/// The form and size of a column in the image of some rows.
struct ColumnPlan {
  var kind = ClusterColumnKind.absent
  /// As in the descriptor: the bytes of a packed number or of a fixed value.
  var width = 0
  var base: Int64 = 0
  var hasNulls = false
  /// Some values are long: a bitmap marks them.
  var hasLong = false
  /// For a date: bytes of nanoseconds per row, and their base.
  var fineWidth = 0
  var fineBase: Int32 = 0
  /// The number of a dictionary's entries.
  var entryCount = 0
  /// The bytes of the strings, or of a dictionary's entries.
  var byteCount = 0
  /// The column's parts are copied from the image that the cluster was made from.
  var isCopied = false
  /// The bytes of all parts, without the descriptor.
  var size = 0
}

/// Memory for encoding that is reused from image to image.
@safe struct EncodingScratch {
  /// A plan per column.
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
