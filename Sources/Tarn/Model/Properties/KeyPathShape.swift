/// The parts of a key path, read from its object in memory.
///
/// The standard library compares whole key paths and does not expose their parts, but only the
/// parts distinguish a stored property from a computed one that reads it. The language's guarantees
/// do not suffice: two key paths are equal only if root, `?` and `!` are equal too, and those
/// cannot be combined without their static types.
///
/// Reading the runtime's layout is safe for these reasons:
///
/// - On Linux a program contains, or is shipped with, the runtime of its own toolchain: the layout
///   cannot change after the program was built.
/// - Before the first use, known key paths are read, and every part must be the expected one. With
///   another layout no key path has a shape, and its use traps with a message
///   (`KeyPathFault.Reason.unknown`); nothing is guessed.
/// - Each word is checked before the next one is read, and none is read outside of the size that
///   the key path gives.
/// - Types are only compared, and getters are numbers that are never called. Nothing is written.
///
/// A key path with a shape is then followed through a traced object, and must read exactly the
/// properties of its shape (`Tracer.follow`): a wrong shape is refused, not believed.
/// `KeyPathShapeTests` fail with a toolchain that has another layout.
struct KeyPathShape {
  enum Part {
    /// A property with a getter, such as one with a wrapper, or a subscript.
    case property(Property)
    /// A property that is read directly in memory.
    case field
    /// `?`, `!`, and the optional around a whole path with a question mark.
    case chain, force, wrap
  }

  struct Property {
    /// The getter, or its entry in the class's table: the same in all key paths to the property,
    /// from any subclass and any module.
    let getter: UInt
    /// Generic code refers to a protocol's requirement: that is not a getter but a number.
    let isRequirement: Bool
    let type: Any.Type
    /// The first word of a subscript's arguments, such as a position; nil without arguments.
    let argument: Int?
  }

  let parts: [Part]

  /// Nil for an unknown layout.
  init?(_ keyPath: AnyKeyPath) {
    guard Self.layoutIsKnown else { return nil }
    self.init(reading: keyPath)
  }

  private init?(reading keyPath: AnyKeyPath) {
    let parts: [Part]? = withExtendedLifetime(keyPath) {
      // After the header of every object: a name for Objective-C, the size, the parts.
      let object = unsafe UnsafeRawPointer(Unmanaged.passUnretained(keyPath).toOpaque())
      let size = unsafe Int(object.load(fromByteOffset: 24, as: UInt32.self) & 0xff_ffff)
      var cursor = unsafe Cursor(next: object + 32, end: object + 32 + size)
      return cursor.parts(endingIn: Swift.type(of: keyPath).valueType)
    }
    guard let parts else { return nil }
    self.parts = parts
  }

  /// Whether known key paths have the parts that they must have.
  static let layoutIsKnown: Bool = {
    func kinds(_ keyPath: AnyKeyPath) -> String? {
      KeyPathShape(reading: keyPath)?.parts.map { part in
        switch part {
        case .property(let property): property.type == Int.self ? "i" : "p"
        case .field: "f"
        case .chain: "?"
        case .force: "!"
        case .wrap: "w"
        }
      }.joined()
    }
    func getter(_ keyPath: AnyKeyPath) -> UInt? {
      KeyPathShape(reading: keyPath)?.onlyProperty?.getter
    }
    let number = 3
    return kinds(\Known.self) == "" && kinds(\Known.field) == "f" && kinds(\Known.one) == "i"
      && kinds(\Known.[number]) == "i" && kinds(\Known.next?.one) == "p?iw"
      && kinds(\Known.next!.next!.two) == "p!p!i"
      && getter(\Known.one) != nil && getter(\Known.one) != getter(\Known.two)
  }()

  private struct Known {
    var field = 0
    var one: Int {
      get { field }
      set { field = newValue }
    }
    var two: Int { field + 1 }
    var next: Known? { nil }
    subscript(number: Int) -> Int { number }
  }

  /// The only part, if it is a property.
  var onlyProperty: Property? {
    guard parts.count == 1, case .property(let property) = parts[0] else { return nil }
    return property
  }

  /// How many of the parts are properties.
  var propertyCount: Int { parts.count { if case .property = $0 { true } else { false } } }

  @safe private struct Cursor {
    var next: UnsafeRawPointer
    let end: UnsafeRawPointer

    mutating func parts(endingIn last: Any.Type) -> [Part]? {
      var parts: [Part] = []
      while unsafe next < end {
        guard let word = word(UInt32.self) else { return nil }
        let payload = word & 0xff_ffff
        switch (word >> 24) & 0x7f {
        case 1, 3:
          // An offset too large for the payload follows it.
          if payload == 0x7f_ffff, self.word(UInt32.self) == nil { return nil }
          guard unsafe next == end || type() != nil else { return nil }
          parts.append(.field)
        case 2:
          guard let property = property(payload, last) else { return nil }
          parts.append(.property(property))
        case 4:
          guard payload <= 2, unsafe next == end || type() != nil else { return nil }
          parts.append([.chain, .wrap, .force][Int(payload)])
        default: return nil
        }
      }
      return parts
    }

    private mutating func property(_ payload: UInt32, _ last: Any.Type) -> Property? {
      // The getter is followed by the function that this key path calls for the value.
      guard let getter = word(UInt.self), word(UInt.self) != nil else { return nil }
      let (isSettable, hasArguments) = (payload & 0x40_0000 != 0, payload & 0x08_0000 != 0)
      if isSettable, word(UInt.self) == nil { return nil }
      var argument: Int?
      if hasArguments {
        guard let size = word(UInt.self), word(UInt.self) != nil else { return nil }
        if payload & 0x10 != 0, word(UInt.self) == nil { return nil }
        guard unsafe size <= end - next else { return nil }
        argument = size >= 8 ? unsafe next.loadUnaligned(as: Int.self) : 0
        unsafe next += Int(size)
      }
      let type = unsafe next == end ? last : self.type()
      guard let type else { return nil }
      return Property(
        getter: getter, isRequirement: payload & 0x10_0000 != 0, type: type, argument: argument)
    }

    /// The type between two parts.
    private mutating func type() -> Any.Type? {
      guard let metadata = unsafe word(UnsafeRawPointer?.self) ?? nil else { return nil }
      return unsafe unsafeBitCast(metadata, to: Any.Type.self)
    }

    private mutating func word<T>(_: T.Type) -> T? {
      let address = unsafe next.alignedUp(for: T.self)
      guard unsafe address + MemoryLayout<T>.size <= end else { return nil }
      unsafe next = unsafe address + MemoryLayout<T>.size
      return unsafe address.load(as: T.self)
    }
  }
}
