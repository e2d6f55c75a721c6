/// The values of elements. While all are whole numbers, or all are links, they are kept as plain
/// numbers, which cost less to load, to pack and to free than values do.
struct ElementValues: Equatable {
  private enum Form { case ints, links, values }

  private var form = Form.values
  /// Empty unless the form is `ints` or `links`.
  private var numbers: ContiguousArray<Int64> = []
  /// Empty unless the form is `values`.
  private var values: ContiguousArray<TaggedValue> = []

  init() {}

  init(_ values: ContiguousArray<TaggedValue>) { self.values = values }

  /// - Parameter areLinks: whether the numbers are the keys of objects.
  init(numbers: ContiguousArray<Int64>, areLinks: Bool) {
    self.numbers = numbers
    form = areLinks ? .links : .ints
  }

  /// The values in a range.
  func part(_ range: Range<Int>) -> ElementValues {
    var part = self
    if form == .values {
      part.values = ContiguousArray(values[range])
    } else {
      part.numbers = ContiguousArray(numbers[range])
    }
    return part
  }

  /// Calls `body` with the numbers in a range; nil if they are kept as values.
  func withNumbers<Result>(
    in range: Range<Int>, _ body: (UnsafeBufferPointer<Int64>) -> Result
  ) -> Result? {
    if form == .values { return nil }
    return unsafe numbers.withUnsafeBufferPointer {
      unsafe body(UnsafeBufferPointer(rebasing: $0[range]))
    }
  }

  static func == (a: ElementValues, b: ElementValues) -> Bool { a.elementsEqual(b) }

  // MARK: - Numbers

  private func value(_ number: Int64) -> TaggedValue {
    .value(form == .links ? .link(ObjectKey(number)) : .int(number))
  }

  /// Nil if the value cannot be kept as a number here.
  private func number(_ value: TaggedValue) -> Int64? {
    switch (value, form) {
    case (.value(.int(let number)), .ints): number
    case (.value(.link(let target)), .links): target.rawValue
    default: nil
    }
  }

  private mutating func becomeValues() {
    if form == .values { return }
    values = ContiguousArray(numbers.map(value))
    numbers = []
    form = .values
  }
}

extension ElementValues: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { form == .values ? values.count : numbers.count }

  subscript(index: Int) -> TaggedValue {
    get { form == .values ? values[index] : value(numbers[index]) }
    set {
      if let number = number(newValue) {
        numbers[index] = number
      } else {
        becomeValues()
        values[index] = newValue
      }
    }
  }

  mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<TaggedValue>) {
    if form != .values {
      var added = ContiguousArray<Int64>()
      added.reserveCapacity(new.count)
      for element in new {
        guard let number = number(element) else { break }
        added.append(number)
      }
      if added.count == new.count { return numbers.replaceSubrange(range, with: added) }
      becomeValues()
    }
    values.replaceSubrange(range, with: new)
  }

  mutating func insert(_ element: TaggedValue, at index: Int) {
    if let number = number(element) { return numbers.insert(number, at: index) }
    becomeValues()
    values.insert(element, at: index)
  }

  mutating func append(_ element: TaggedValue) { insert(element, at: endIndex) }

  mutating func removeSubrange(_ range: Range<Int>) {
    if form == .values {
      values.removeSubrange(range)
    } else {
      numbers.removeSubrange(range)
    }
  }

  mutating func reserveCapacity(_ capacity: Int) {
    if form == .values {
      values.reserveCapacity(capacity)
    } else {
      numbers.reserveCapacity(capacity)
    }
  }
}

extension ElementValues: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: TaggedValue...) { self.init(ContiguousArray(elements)) }
}
