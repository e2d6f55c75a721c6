import RealmFiles
import TarnStore

extension RealmValue {
  /// The value as a store has it; nil for a link, a list and a dictionary.
  var plain: Value? {
    switch self {
    case .null: .null
    case .int(let number): .int(number)
    case .bool(let isTrue): .bool(isTrue)
    case .float(let number): .float(number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .binary(let bytes): .data(bytes)
    case .date(let seconds, let nanoseconds):
      .date(Timestamp(seconds: seconds, signedNanoseconds: nanoseconds))
    case .decimal(let number): .decimal(Bytes16(high: number.high, low: number.low))
    case .objectID(let high, let low): .objectID(Bytes12(high: high, low: low))
    case .uuid(let high, let low): .uuid(Bytes16(high: high, low: low))
    case .link, .list, .dictionary: nil
    }
  }
}

extension Timestamp {
  /// A time whose nanoseconds have the sign of its seconds.
  init(seconds: Int64, signedNanoseconds: Int32) {
    self.init(seconds: seconds, nanoseconds: signedNanoseconds)
    guard signedNanoseconds < 0 else { return }
    // A store cannot hold a fraction before the smallest number of seconds.
    let (whole, overflows) = seconds.subtractingReportingOverflow(1)
    self.init(
      seconds: overflows ? seconds : whole,
      nanoseconds: overflows ? 0 : signedNanoseconds + 1_000_000_000)
  }
}

extension Value {
  /// Whether a column of the type can hold the value, which is not null.
  func fits(_ type: ColumnType) -> Bool {
    switch (self, type) {
    case (_, .any), (.int, .int), (.bool, .bool), (.float, .float), (.double, .double),
      (.string, .string), (.data, .data), (.date, .date), (.objectID, .objectID), (.uuid, .uuid),
      (.decimal, .decimal), (.link, .link):
      true
    default: false
    }
  }
}
