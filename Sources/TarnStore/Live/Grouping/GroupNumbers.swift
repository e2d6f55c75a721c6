/// Numbers groups in the order in which a scan finds them.
struct GroupNumbers {
  /// Integers below this are found without a search.
  private static let smallEnd = 4096

  private(set) var groups: [GroupValue] = []
  private var known: [GroupValue: Int32] = [:]
  private var small = ContiguousArray<Int32>(repeating: -1, count: smallEnd)
  private var texts = TextTable()

  var count: Int { groups.count }

  mutating func number(of group: GroupValue) -> Int32 {
    if let number = known[group] { return number }
    return insert(group)
  }

  private mutating func insert(_ group: GroupValue) -> Int32 {
    let number = Int32(groups.count)
    groups.append(group)
    known[group] = number
    return number
  }

  /// Gives the rows of a cluster that have a bit in `mask` the numbers of their integers.
  ///
  /// Small known integers are handled first, without a branch. Usually these are all.
  mutating func assign(
    _ integers: UnsafePointer<Int64>, _ rowCount: Int, _ mask: UnsafePointer<UInt64>,
    to numbers: UnsafeMutablePointer<Int32>
  ) {
    let isAnyUnknown = unsafe small.withUnsafeBufferPointer { small in
      var all: Int32 = 0
      for slot in 0..<rowCount {
        let index = unsafe UInt64(bitPattern: integers[slot])
        let isSmall = index < UInt64(Self.smallEnd)
        let known = unsafe small[isSmall ? Int(truncatingIfNeeded: index) : 0]
        let number = isSmall ? known : -1
        unsafe numbers[slot] = number
        all |= number
      }
      return all < 0
    }
    if !isAnyUnknown { return }
    unsafe Bitmap.forEachSlot(mask, rowCount) { slot in
      if unsafe numbers[slot] < 0 { unsafe numbers[slot] = number(of: integers[slot]) }
    }
  }

  private mutating func number(of integer: Int64) -> Int32 {
    let number = number(of: GroupValue.scalar(.int(integer)))
    if integer >= 0, integer < Self.smallEnd { small[Int(integer)] = number }
    return number
  }

  /// The number of a string's or data's bytes.
  mutating func number(of bytes: UnsafeRawBufferPointer) -> Int32 {
    let hash = unsafe TextTable.hash(bytes)
    if let number = unsafe texts.number(of: bytes, hash) { return number }
    let number = unsafe insert(.bytes([UInt8](bytes)))
    unsafe texts.insert(number, bytes, hash)
    return number
  }
}

/// The numbers of strings, found by their bytes without creating a value.
private struct TextTable {
  private struct Place {
    var number: Int32 = -1
    /// A part of the hash, so that different strings are rarely compared.
    var mark: UInt32 = 0
    var start = 0
    var count = 0
  }

  private var places = ContiguousArray<Place>(repeating: Place(), count: 256)
  private var used = 0
  private var bytes: ContiguousArray<UInt8> = []

  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash = UInt64(bytes.count) &* 0x9e37_79b9_7f4a_7c15
    var index = 0
    while index &+ 8 <= bytes.count {
      let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 32
      index &+= 8
    }
    while index < bytes.count {
      hash = unsafe (hash ^ UInt64(bytes[index])) &* 0x9e37_79b9_7f4a_7c15
      hash ^= hash >> 32
      index &+= 1
    }
    return hash
  }

  func number(of sought: UnsafeRawBufferPointer, _ hash: UInt64) -> Int32? {
    let mask = places.count - 1
    var index = Int(truncatingIfNeeded: hash) & mask
    while places[index].number >= 0 {
      let place = places[index]
      if place.mark == UInt32(truncatingIfNeeded: hash >> 32), place.count == sought.count,
        unsafe has(sought, at: place.start)
      {
        return place.number
      }
      index = (index + 1) & mask
    }
    return nil
  }

  private func has(_ sought: UnsafeRawBufferPointer, at start: Int) -> Bool {
    unsafe bytes.withUnsafeBytes { bytes in
      let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + sought.count])
      return unsafe compareBytes(part, sought) == 0
    }
  }

  mutating func insert(_ number: Int32, _ text: UnsafeRawBufferPointer, _ hash: UInt64) {
    if 2 * (used + 1) > places.count { grow() }
    let place = Place(
      number: number, mark: UInt32(truncatingIfNeeded: hash >> 32), start: bytes.count,
      count: text.count)
    unsafe bytes.append(contentsOf: text)
    put(place, hash)
  }

  private mutating func put(_ place: Place, _ hash: UInt64) {
    let mask = places.count - 1
    var index = Int(truncatingIfNeeded: hash) & mask
    while places[index].number >= 0 { index = (index + 1) & mask }
    places[index] = place
    used += 1
  }

  private mutating func grow() {
    let old = places
    places = ContiguousArray(repeating: Place(), count: 2 * old.count)
    used = 0
    for place in old where place.number >= 0 {
      let hash = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Self.hash(
          UnsafeRawBufferPointer(rebasing: bytes[place.start..<place.start + place.count]))
      }
      put(place, hash)
    }
  }
}
