/// The names of a list's elements as they are stored next to its column, in runs: about 15 bytes
/// for the elements that one commit inserted at one place, and more only for elements that were set
/// later.
///
/// The elements of a list without names, as SQL writes it, are named by the stamp of its column and
/// their positions.
struct ListNames: Equatable {
  /// By position; elements that were only inserted have the stamp `inserted`.
  var elements: [(id: ElementID, stamp: Stamp)]

  /// Earlier than every change of an element.
  static let inserted = Stamp(0, by: 0)
  private static let format: UInt8 = 1

  static func == (a: ListNames, b: ListNames) -> Bool {
    a.elements.elementsEqual(b.elements) { $0.id == $1.id && $0.stamp == $1.stamp }
  }

  init(_ elements: [(id: ElementID, stamp: Stamp)]) { self.elements = elements }

  /// The names of elements written by SQL.
  ///
  /// - Parameter stamp: the stamp of the column.
  init(of count: Int, writtenAt stamp: Stamp) {
    elements = (0..<count).map { place in
      let id = ElementID(
        author: 0, version: UInt64(bitPattern: stamp.time), salt: stamp.writer,
        number: UInt32(truncatingIfNeeded: place))
      return (id, Self.inserted)
    }
  }

  var bytes: [UInt8] {
    var writer = BigEndianWriter()
    writer.write(Self.format)
    let runs = runs
    writer.write(count: runs.count)
    for run in runs {
      writer.write(run.first.author)
      writer.write(run.first.salt)
      writer.writeVariable(run.first.version)
      writer.writeVariable(UInt64(run.first.number))
      writer.write(count: run.count)
    }
    let changed = elements.indices.filter { elements[$0].stamp != Self.inserted }
    writer.write(count: changed.count)
    for place in changed {
      writer.write(count: place)
      writer.writeVariable(UInt64(bitPattern: elements[place].stamp.time))
      writer.writeVariable(UInt64(elements[place].stamp.writer))
    }
    return writer.bytes
  }

  /// Adjacent elements with consecutive numbers.
  private var runs: [(first: ElementID, count: Int)] {
    var runs: [(first: ElementID, count: Int)] = []
    for (id, _) in elements {
      if let run = runs.last, id == run.first.advanced(by: run.count) {
        runs[runs.count - 1].count += 1
      } else {
        runs.append((id, 1))
      }
    }
    return runs
  }

  /// - Parameter count: the number of elements of the column.
  /// - Returns: nil if the bytes do not name that many elements, each once: a replica may send
  ///   anything.
  init?(_ bytes: [UInt8], of count: Int) {
    var reader = BigEndianReader(bytes)
    guard reader.read(UInt8.self) == Self.format, let runCount = reader.readCount() else {
      return nil
    }
    elements = []
    for _ in 0..<runCount {
      guard let author: UInt32 = reader.read(), let salt: UInt32 = reader.read(),
        let version = reader.readVariable(),
        let number = reader.readVariable().flatMap({ UInt32(exactly: $0) }),
        let length = reader.readCount(), length > 0, length <= count - elements.count,
        UInt32(exactly: Int(number) + length - 1) != nil
      else { return nil }
      let first = ElementID(author: author, version: version, salt: salt, number: number)
      for place in 0..<length { elements.append((first.advanced(by: place), Self.inserted)) }
    }
    guard elements.count == count, let changed = reader.readCount() else { return nil }
    for _ in 0..<changed {
      guard let place = reader.readCount(), elements.indices.contains(place),
        let time = reader.readVariable(),
        let writer = reader.readVariable().flatMap({ UInt32(exactly: $0) })
      else { return nil }
      elements[place].stamp = Stamp(Int64(bitPattern: time), by: writer)
    }
    guard reader.isAtEnd, Set(elements.map(\.id)).count == count else { return nil }
  }
}

extension ElementID {
  fileprivate func advanced(by count: Int) -> ElementID {
    ElementID(
      author: author, version: version, salt: salt,
      number: number &+ UInt32(truncatingIfNeeded: count))
  }
}
