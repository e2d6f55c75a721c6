import Foundation

@testable import Tarn

/// Models with combinations that are unique.
enum Houses {
  static let types: [ObjectBase.Type] = [House.self, Flat.self, Thing.self, Note.self]

  enum Kind: String, PersistableEnum { case small, large }

  class Hidden: Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class House: Hidden {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var city: String?
    @Persisted var street = ""
    @Persisted var number = 0
    override class func uniqueProperties() -> [[String]] { [["city", "street", "number"]] }
    override class func propertiesMapping() -> [String: String] { ["city": "town"] }

    convenience init(_ id: Int, _ city: String?, _ street: String, _ number: Int) {
      self.init()
      self.id = id
      self.city = city
      self.street = street
      self.number = number
    }
  }

  class Flat: Hidden {
    @Persisted var house: House?
    @Persisted var name = ""
    @Persisted var kind: Kind
    override class func uniqueProperties() -> [[String]] { [["house", "name"]] }
  }

  class Thing: Hidden {
    @Persisted var small: Int8
    @Persisted var flag = false
    @Persisted var date: Date?
    @Persisted var id: ObjectId
    @Persisted var uuid: UUID
    @Persisted var price: Decimal128
    @Persisted var size = 0.0
    @Persisted var weight: Float?
    @Persisted var kind: Kind
    @Persisted var bytes: Data
    override class func uniqueProperties() -> [[String]] {
      [["small", "flag", "date", "id", "uuid", "price", "size", "weight", "kind", "bytes"]]
    }
  }

  class Note: Hidden {
    @Persisted var text = ""
  }

  class Nameless: Hidden {
    override class func uniqueProperties() -> [[String]] { [["nothing"]] }
  }

  class Listed: Hidden {
    @Persisted var numbers: List<Int>
    override class func uniqueProperties() -> [[String]] { [["numbers"]] }
  }

  class Twice: Hidden {
    @Persisted var number: Int
    override class func uniqueProperties() -> [[String]] { [["number", "number"]] }
  }
}

/// The same without a rule.
enum HousesBefore {
  static let types: [ObjectBase.Type] = [House.self]

  class House: Houses.Hidden {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var town: String?
    @Persisted var street = ""
    @Persisted var number = 0
  }
}

/// A property of a rule with another name.
enum HousesRenamed {
  static let types: [ObjectBase.Type] = [Houses.House.self, Flat.self]

  class Flat: Houses.Hidden {
    @Persisted var house: Houses.House?
    @Persisted var title = ""
    @Persisted var kind: Houses.Kind
    override class func uniqueProperties() -> [[String]] { [["house", "title"]] }
  }
}

/// A property with another name, another rule, and another primary key.
enum HousesAfter {
  static let types: [ObjectBase.Type] = [House.self, Flat.self]

  class House: Houses.Hidden {
    @Persisted var id: Int
    @Persisted(primaryKey: true) var rank: Int
    @Persisted var city: String?
    @Persisted var street = ""
    @Persisted var number = 0
    override class func uniqueProperties() -> [[String]] { [["city", "number"]] }
  }

  class Flat: Houses.Hidden {
    @Persisted var house: House?
    @Persisted var name = ""
    @Persisted var kind: Houses.Kind
  }
}
