import Foundation
import TarnStore

// Conversion of values from outside: from JSON, from another class's object, or by name.
// Properties, elements, primary keys, dynamic objects and migrations all use it.

extension Value {
  /// The common types, found without a search for conformances; nil for all others.
  @inline(__always)
  init?(common value: Any) {
    let type = type(of: value)
    if type == String.self {
      self = .string(value as! String)  // because: that is its type
    } else if type == Int.self {
      self = .int(Int64(value as! Int))  // because: that is its type
    } else if type == Double.self {
      self = .double(value as! Double)  // because: that is its type
    } else if type == Bool.self {
      self = .bool(value as! Bool)  // because: that is its type
    } else {
      return nil
    }
  }

  /// The value in its own type; nil if it is not a single value that can be stored.
  init?(single value: Any) {
    switch value {
    case let date as Date where !date.isStorable: return nil
    case AnyRealmValue.date(let date) where !date.isStorable: return nil
    case let boxed as _BoxedValue:
      self = boxed.value
      return
    default: break
    }
    // Tested first: a cast to a class would turn Swift's own numbers into a class's objects.
    if type(of: value) is AnyObject.Type {
      self.init(foundation: value)
    } else {
      self.init(swift: value)
    }
  }

  private init?(swift value: Any) {
    switch value {
    case let value as any _Persistable: self.init(boxing: value)
    case let value as Decimal: self = Decimal128(value)._box().value
    case let value as any BinaryInteger: self.init(integer: value)
    case let value as any BinaryFloatingPoint: self = .double(Double(value))
    default: return nil
    }
  }

  private init?(foundation value: Any) {
    switch value {
    case let number as NSNumber: self.init(number)
    case is NSString: self.init(swift: value as! String)  // because: Foundation bridges it
    case is NSData: self.init(swift: value as! Data)  // because: as above
    case is NSDate: self.init(single: value as! Date)  // because: as above
    case is NSUUID: self.init(swift: value as! UUID)  // because: as above
    case let value as any _Persistable: self.init(boxing: value)
    default: return nil
    }
  }

  private init?(boxing value: any _Persistable) {
    guard !(value is any _CollectionProperty), !(value is any AnyLinkingObjects) else { return nil }
    // Nothing can be made from a date that cannot be stored.
    if Swift.type(of: value)._description.type == .date,
      let custom = value as? any FailableCustomPersistable
    {
      self.init(single: custom.persistableValue)
      return
    }
    let boxed = value._box()
    guard boxed.object == nil, boxed.nested == nil else { return nil }
    self = boxed.value
  }

  /// The integer; for one out of range a decimal, if that holds all of its digits.
  private init?(integer value: some BinaryInteger) {
    if let small = Int64(exactly: value) {
      self = .int(small)
    } else {
      guard let decimal = Decimal128(exactly: value) else { return nil }
      self = decimal._box().value
    }
  }

  /// JSON's true and false stay Booleans.
  private init?(_ number: NSNumber) {
    if number === NSNumber(value: true) || number === NSNumber(value: false) {
      self = .bool(number.boolValue)
      return
    }
    if let decimal = number as? NSDecimalNumber {
      self = Decimal128(decimal.decimalValue)._box().value
      return
    }
    switch UInt8(bitPattern: unsafe number.objCType.pointee) {
    case UInt8(ascii: "f"): self = .float(number.floatValue)
    case UInt8(ascii: "d"): self = .double(number.doubleValue)
    case UInt8(ascii: "Q"): self.init(integer: number.uint64Value)
    default: self = .int(number.int64Value)
    }
  }
}

extension Value {
  /// The value in the form of a column of that type; nil if it does not fit. A column of numbers
  /// takes any number: whole ones take it if it is exact and fits, the others the nearest number,
  /// if it is in range. Booleans become 1 and 0 there, and only these two numbers become Booleans.
  func converted(to type: ColumnType) -> Value? {
    switch (self, type) {
    case (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.string, .string),
      (.data, .data), (.date, .date), (.objectID, .objectID), (.uuid, .uuid),
      (.decimal, .decimal), (.null, _), (_, .any):
      self
    case (.bool(let flag), .int), (.bool(let flag), .float), (.bool(let flag), .double),
      (.bool(let flag), .decimal):
      Value.int(flag ? 1 : 0).converted(to: type)
    case (_, .int): wholeNumber.map { .int($0) }
    case (.int, .bool), (.float, .bool), (.double, .bool), (.decimal, .bool):
      switch wholeNumber {
      case 0: .bool(false)
      case 1: .bool(true)
      default: nil
      }
    case (.int(let number), .float): .float(Float(number))
    case (.double(let number), .float):
      Float(number).isFinite == number.isFinite ? .float(Float(number)) : nil
    case (.decimal(let cell), .float): DecimalNumber(cell).nearestFloat.map { .float($0) }
    case (.int(let number), .double): .double(Double(number))
    case (.float(let number), .double): .double(Double(number))
    case (.decimal(let cell), .double):
      DecimalNumber(cell).nearestDouble.isFinite == DecimalNumber(cell).isFinite
        ? .double(DecimalNumber(cell).nearestDouble) : nil
    case (.int, .decimal), (.float, .decimal), (.double, .decimal), (.string, .decimal):
      Decimal128._unbox(_BoxedValue(self))?._box().value
    default: nil
    }
  }

  /// The integer that the number is, if it is one and fits.
  private var wholeNumber: Int64? {
    switch self {
    case .int(let number): return number
    case .float(let number): return Int64(exactly: number)
    case .double(let number): return Int64(exactly: number)
    case .decimal(let cell):
      let number = DecimalNumber(cell)
      guard number.isFinite else { return nil }
      let floor = number.floor
      return floor.isExact ? floor.value : nil
    default: return nil
    }
  }

  /// True for values that a column of numbers may hold: numbers, whole or not, and Booleans.
  var isNumber: Bool {
    switch self {
    case .int, .float, .double, .decimal, .bool: true
    default: false
    }
  }
}

extension DecimalNumber {
  /// Nil if the number is finite, but beyond all floats.
  fileprivate var nearestFloat: Float? {
    // By way of the text: the nearest float to the nearest double may be its neighbour.
    guard isFinite else { return Float(nearestDouble) }
    return Float(text).flatMap { $0.isFinite ? $0 : nil }
  }
}

extension Date {
  /// True if its seconds fit 64 bits.
  var isStorable: Bool {
    Int64(exactly: timeIntervalSinceReferenceDate.rounded(.down)).map {
      $0 < Int64.max - Date._epochSeconds
    } ?? false
  }
}
